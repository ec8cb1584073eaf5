#include "lab/record.hpp"

#include "base/number.hpp"
#include "io/base64.hpp"
#include "lab/clock.hpp"
#include "lab/environment.hpp"

#include <cmath>
#include <random>

namespace tilewise::lab {

namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(); }
json number(std::optional<double> value) { return value ? number(*value) : json(); }

std::string fresh_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += base::hex_digits(random(), 8);
  return id;
}

json case_json(const case_facts& c) {
  json settings = json::object();
  for (const auto& [name, value] : c.settings) settings[name] = value;
  json shape = json::array();
  for (unsigned i = 0; i < c.shape.rank; ++i) shape.push_back(c.shape[i]);
  return {{"group", c.group},
          {"algorithm", c.algorithm},
          {"variant", c.variant},
          {"backend", c.backend},
          {"name", c.name},
          {"peer", c.peer},
          {"order", c.order == registry::claim::tilewise ? "tilewise" : "own"},
          {"source", c.source},
          {"dtype", name_of(c.type)},
          {"shape", shape},
          {"n", c.shape[0]},
          {"settings", settings},
          {"tuning", c.tuning},
          {"data", c.data},
          {"seed", c.seed},
          {"threads", c.threads == 0 ? json() : json(c.threads)},
          {"mode", c.cold ? "cold" : "hot"},
          {"bytes_min", number(c.bytes_min)},
          {"operations", number(c.operations)}};
}

json verify_json(const record& r) {
  if (!r.verified) return nullptr;
  const verdict& v = *r.verified;
  json first;
  if (v.first)
    first = {{"operand", v.first->operand},
             {"index", v.first->index},
             {"expected", v.first->expected},
             {"got", v.first->got}};
  return {{"ok", v.ok},
          {"method", r.what.order == registry::claim::tilewise ? "digest" : "tolerance"},
          {"digest", text_or_null(v.digest)},
          {"reference", text_or_null(r.reference)},
          {"reference_digest", text_or_null(r.reference_digest)},
          {"mismatches", v.mismatches},
          {"max_relative_error", number(v.max_relative_error)},
          {"changed_outputs", r.changed_outputs ? json(*r.changed_outputs) : json()},
          {"first_mismatch", first}};
}

json series_json(const std::optional<series>& taken) {
  if (!taken || taken->ns.empty()) return nullptr;
  const summary s = summarize(taken->ns);
  json samples = json::array();
  for (double ns : taken->ns) samples.push_back(number(ns));
  return {{"n", s.n},
          {"calls_per_sample", taken->calls_per_sample},
          {"median_ns", number(s.median)},
          {"ci95_lo_ns", s.ci95 ? number(s.ci95->lo) : json()},
          {"ci95_hi_ns", s.ci95 ? number(s.ci95->hi) : json()},
          {"min_ns", number(s.min)},
          {"max_ns", number(s.max)},
          {"q1_ns", number(s.q1)},
          {"q3_ns", number(s.q3)},
          {"mad_ns", number(s.mad)},
          {"mean_ns", number(s.mean)},
          {"outliers", s.outliers},
          {"stop_reason", name_of(taken->reason)},
          {"samples_ns", samples}};
}

json timing_json(const timings& t) {
  return {{"kernel", series_json(t.kernel)},
          {"h2d", series_json(t.h2d)},
          {"d2h", series_json(t.d2h)},
          {"round_trip", series_json(t.round_trip)},
          {"end_to_end", series_json(t.end_to_end)},
          {"first_call_ns", number(t.first_call_ns)},
          {"clock", text_or_null(t.clock)},
          {"clock_resolution_ns", clock_resolution_ns()}};
}

json derived_json(const record& r) {
  if (!r.time.kernel || r.time.kernel->ns.empty()) return nullptr;
  const double seconds = summarize(r.time.kernel->ns).median * 1e-9;
  const auto rate = [&](double work) { return work > 0 ? number(work / seconds) : json(); };
  const auto only = [&](ceiling which) { return r.bound_by == which ? number(r.ceiling_per_s) : json(); };
  const double share = work_of(r.what, r.bound_by) / seconds / r.ceiling_per_s.value_or(0);
  return {{"elements_per_s", rate(r.what.elements)},
          {"bytes_per_s", rate(r.what.bytes_min)},
          {"operations_per_s", rate(r.what.operations)},
          {"ceiling", r.ceiling_per_s ? json(name_of(r.bound_by)) : json()},
          {"ceiling_bytes_per_s", only(ceiling::copy)},
          {"ceiling_operations_per_s", only(ceiling::fma)},
          {"fraction_of_ceiling", r.ceiling_per_s ? number(share) : json()},
          {"plausible", r.plausible}};
}

json ratios_json(const std::vector<ratio>& ratios) {
  json all = json::array();
  for (const ratio& r : ratios)
    all.push_back({{"to", r.to},
                   {"device", r.device},
                   {"tuning", r.tuning},
                   {"median", number(r.value.median)},
                   {"ci95_lo", r.value.ci95 ? number(r.value.ci95->lo) : json()},
                   {"ci95_hi", r.value.ci95 ? number(r.value.ci95->hi) : json()}});
  return all;
}

json course_json(const field_course& c) {
  json moments = json::array();
  for (const field_moment& m : c.moments)
    moments.push_back({{"step", m.step},
                       {"simulated_time", number(m.simulated_time)},
                       {"residual", number(m.residual)},
                       {"hash", m.hash},
                       {"published_hash", text_or_null(m.published_hash)},
                       {"picture_png", io::base64(m.picture_png)}});
  return {{"stopped", text_or_null(c.stopped)}, {"hash_function", text_or_null(c.hash_function)}, {"moments", moments}};
}

json experiment_json(const record& r) {
  json figures = json::array();
  for (const figure* f : r.published)
    figures.push_back(
        {{"system", f->system}, {"machine", f->machine}, {"ns", f->ns}, {"with_transfers", f->with_transfers}});
  return {{"document", r.from->document},
          {"baseline", r.from->baseline},
          {"baseline_device", r.from->baseline_device},
          {"first_outputs", r.from->at(r.what.shape)->first_outputs},
          {"published", figures}};
}

}  // namespace

std::string_view name_of(status s) {
  constexpr std::array<std::string_view, 6> names{"ok", "wrong", "skipped", "failed", "timeout", "interrupted"};
  return names[static_cast<std::size_t>(s)];
}

session describe_session(std::vector<std::string> argv) { return {std::move(argv), tool_facts(), host_facts()}; }

json to_json(const record& r, const session& s) {
  const bool timed = r.state == status::ok || r.state == status::interrupted;
  json written = {{"schema", "tilewise.result/1"},
                  {"id", fresh_id()},
                  {"time_utc", utc_now()},
                  {"argv", s.argv},
                  {"status", name_of(r.state)},
                  {"reason", text_or_null(r.reason)},
                  {"tool", s.tool},
                  {"host", s.host},
                  {"device", device_facts(r.device)},
                  {"case", case_json(r.what)},
                  {"verify", verify_json(r)},
                  {"timing", timed ? timing_json(r.time) : json()},
                  {"derived", timed ? derived_json(r) : json()},
                  {"ratios", timed ? ratios_json(r.ratios) : json::array()},
                  {"noise", r.noise ? json{{"aa_median_ratio", number(r.noise->aa_median_ratio)},
                                           {"min_effect", number(r.noise->min_effect)}}
                                    : json()}};
  if (r.from != nullptr) written["experiment"] = experiment_json(r);
  if (r.course) written["course"] = course_json(*r.course);
  return written;
}

/// A line that a killed run left unfinished must not swallow the next record.
static bool ends_within_line(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return false;
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

record_file::record_file(std::filesystem::path path) : path_(std::move(path)) {
  const bool broken = ends_within_line(path_);
  out_.open(path_, std::ios::app);
  if (!out_) throw error(errc::io, "'" + path_.string() + "' cannot be opened for writing; give another file with -o");
  if (broken) out_ << '\n';
}

void record_file::write(const json& record) {
  out_ << record.dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
  if (!out_) throw error(errc::io, "'" + path_.string() + "' cannot be written; is the disk full?");
}

}  // namespace tilewise::lab
