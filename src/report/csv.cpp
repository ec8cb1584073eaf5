// SPDX-License-Identifier: Apache-2.0
#include "record/json.hpp"
#include "record/published.hpp"
#include "report/report.hpp"

#include <functional>
#include <span>

namespace tilewise::report {

namespace {

using nlohmann::json;
/// Quotes a text, with an apostrophe before anything that a spreadsheet would run as a formula.
std::string cell(const std::string& text) {
  std::string quoted = "\"";
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) quoted += '\'';
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

/// Numbers and words as in JSON; anything else as its JSON in quotes; empty if absent.
template <class T>
std::string value_of(const T& value) {
  const json written = record::to_json(value);
  if (written.is_null()) return "";
  if (written.is_number() || written.is_boolean()) return written.dump();
  return cell(written.is_string() ? written.get<std::string>() : written.dump());
}

/// Follows a path of members from a record to a value; empty if one of them is absent.
template <class T>
std::string follow(const T& to) {
  return value_of(to);
}
template <class T, class Member, class... Rest>
std::string follow(const T& from, Member member, Rest... rest) {
  if constexpr (requires { from.*member; })
    return follow(from.*member, rest...);
  else
    return from ? follow(*from, member, rest...) : "";
}

/// The first published time to show beside the row; null if there is none.
const record::published_time* first_published(const record::result& r) {
  if (!r.experiment) return nullptr;
  for (const record::published_time& time : r.experiment->published)
    if (record::stands_beside(r.experiment->document, record::shape_text(r.what), r.what.tuning, time)) return &time;
  return nullptr;
}

/// Its speedup in the document's digits, without a unit.
std::string first_speedup(const record::result& r) {
  const record::published_time* first = first_published(r);
  if (first == nullptr) return "";
  const record::published_row* known =
      record::find_published(r.experiment->document, record::shape_text(r.what), *first);
  return known == nullptr ? "" : std::string(known->speedup.substr(0, known->speedup.find("×")));
}

struct column {
  std::string_view name;  // includes the unit
  std::function<std::string(const record::result&)> value;
};

template <class... Members>
auto at(Members... path) {
  return [=](const record::result& r) { return follow(r, path...); };
}

const std::vector<column>& columns() {
  static const std::vector<column> all{
      {"id", at(&record::result::id)},
      {"time_utc", at(&record::result::time_utc)},
      {"status", at(&record::result::state)},
      {"reason", at(&record::result::reason)},
      {"hostname", at(&record::result::host, &record::host::hostname)},
      {"cpu_model", at(&record::result::host, &record::host::cpu_model)},
      {"device", at(&record::result::device, &record::device::name)},
      {"device_description", at(&record::result::device, &record::device::description)},
      {"driver", at(&record::result::device, &record::device::driver)},
      {"group", at(&record::result::what, &record::measured_case::group)},
      {"algorithm", at(&record::result::what, &record::measured_case::algorithm)},
      {"variant", at(&record::result::what, &record::measured_case::variant)},
      {"peer", at(&record::result::what, &record::measured_case::peer)},
      {"order", at(&record::result::what, &record::measured_case::order)},
      {"dtype", at(&record::result::what, &record::measured_case::dtype)},
      {"n_elements", at(&record::result::what, &record::measured_case::n)},
      {"shape", at(&record::result::what, &record::measured_case::shape)},
      {"settings", at(&record::result::what, &record::measured_case::settings)},
      {"tuning", at(&record::result::what, &record::measured_case::tuning)},
      {"data", at(&record::result::what, &record::measured_case::data)},
      {"seed", at(&record::result::what, &record::measured_case::seed)},
      {"threads", at(&record::result::what, &record::measured_case::threads)},
      {"mode", at(&record::result::what, &record::measured_case::mode)},
      {"compulsory_bytes", at(&record::result::what, &record::measured_case::bytes_min)},
      {"operations", at(&record::result::what, &record::measured_case::operations)},
      {"verified", at(&record::result::verify, &record::verification::ok)},
      {"digest_xxh3_128", at(&record::result::verify, &record::verification::digest)},
      {"samples", at(&record::result::timing, &record::timing::kernel, &record::clock::n)},
      {"kernel_median_ns", at(&record::result::timing, &record::timing::kernel, &record::clock::median_ns)},
      {"kernel_ci95_low_ns", at(&record::result::timing, &record::timing::kernel, &record::clock::ci95_lo_ns)},
      {"kernel_ci95_high_ns", at(&record::result::timing, &record::timing::kernel, &record::clock::ci95_hi_ns)},
      {"kernel_min_ns", at(&record::result::timing, &record::timing::kernel, &record::clock::min_ns)},
      {"h2d_median_ns", at(&record::result::timing, &record::timing::h2d, &record::clock::median_ns)},
      {"d2h_median_ns", at(&record::result::timing, &record::timing::d2h, &record::clock::median_ns)},
      {"round_trip_median_ns", at(&record::result::timing, &record::timing::round_trip, &record::clock::median_ns)},
      {"end_to_end_median_ns", at(&record::result::timing, &record::timing::end_to_end, &record::clock::median_ns)},
      {"job_read_ns", at(&record::result::timing, &record::timing::phases, &record::phases::read)},
      {"job_upload_ns", at(&record::result::timing, &record::timing::phases, &record::phases::upload)},
      {"job_kernel_ns", at(&record::result::timing, &record::timing::phases, &record::phases::kernel)},
      {"job_download_ns", at(&record::result::timing, &record::timing::phases, &record::phases::download)},
      {"job_write_ns", at(&record::result::timing, &record::timing::phases, &record::phases::write)},
      {"first_call_ns", at(&record::result::timing, &record::timing::first_call_ns)},
      {"elements_per_s", at(&record::result::derived, &record::rates::elements_per_s)},
      {"bytes_per_s", at(&record::result::derived, &record::rates::bytes_per_s)},
      {"operations_per_s", at(&record::result::derived, &record::rates::operations_per_s)},
      {"ceiling", at(&record::result::derived, &record::rates::bound_by)},
      {"fraction_of_ceiling", at(&record::result::derived, &record::rates::fraction_of_ceiling)},
      {"plausible", at(&record::result::derived, &record::rates::plausible)},
      {"ranks", at(&record::result::ranks, &record::ranks::number)},
      {"transport", at(&record::result::ranks, &record::ranks::transport)},
      {"sent_bytes", at(&record::result::ranks, &record::ranks::sent_bytes)},
      {"exchanges", at(&record::result::ranks, &record::ranks::exchanges)},
      {"exchange_ns", at(&record::result::ranks, &record::ranks::exchange_ns)},
      {"latency_ns", at(&record::result::ranks, &record::ranks::latency_ns)},
      {"link_bytes_per_s", at(&record::result::ranks, &record::ranks::link_bytes_per_s)},
      {"version", at(&record::result::tool, &record::tool::version)},
      {"commit", at(&record::result::tool, &record::tool::commit)},
      {"document", at(&record::result::experiment, &record::experiment::document)},
      {"program", at(&record::result::experiment, &record::experiment::system)},
      {"published_ns",
       [](const record::result& r) {
         const record::published_time* first = first_published(r);
         return first == nullptr ? "" : value_of(first->ns);
       }},
      {"published_with_transfers",
       [](const record::result& r) {
         const record::published_time* first = first_published(r);
         return first == nullptr ? "" : value_of(first->with_transfers);
       }},
      {"published_speedup", first_speedup},
  };
  return all;
}

}  // namespace

csv_file::csv_file(const std::filesystem::path& out) : file_(out.string()) {
  for (const column& c : columns()) lines_ += (lines_.empty() ? "" : ",") + std::string(c.name);
  lines_ += ",speedup\r\n";  // RFC 4180
}

/// One problem of a document on one machine.
std::string problem_of(const record::result& r) {
  const std::string& group = r.what.group;
  return r.experiment->document + "\n" + r.host.hostname + "\n" + r.what.data + "\n" +
         group.substr(0, group.rfind(" @"));
}

void csv_file::note_baseline(const record::result& r, const open_line& line) {
  if (r.what.variant != r.experiment->baseline || line.ns <= 0) return;
  const bool is_on_its_device = r.device.name == r.experiment->baseline_device;
  auto& [ns, is_sure] = bases_[line.problem];
  if (ns == 0 || (is_on_its_device && !is_sure)) ns = line.ns, is_sure = is_on_its_device;
}

void csv_file::add(const record::result& r) {
  open_line line{};
  for (const column& c : columns()) line.text += (&c == &columns().front() ? "" : ",") + c.value(r);
  if (r.experiment) {
    line.problem = problem_of(r);
    if (!r.what.is_limit() && r.timing && r.timing->kernel) line.ns = r.timing->kernel->median_ns.value_or(0);
    note_baseline(r, line);
  }
  if (r.experiment || !open_.empty()) return open_.push_back(std::move(line));
  lines_ += line.text + ",\r\n";
  if (lines_.size() > 1 << 16) write();
}

void csv_file::commit() {
  for (const open_line& line : open_) {
    const auto base = bases_.find(line.problem);
    const bool has_speedup = base != bases_.end() && line.ns > 0;
    lines_ += line.text + "," + (has_speedup ? json(base->second.first / line.ns).dump() : "") + "\r\n";
    if (lines_.size() > 1 << 16) write();
  }
  open_.clear();
  write();
  file_.commit();
}

void csv_file::write() {
  file_.write(std::as_bytes(std::span(lines_)));
  lines_.clear();
}

}  // namespace tilewise::report
