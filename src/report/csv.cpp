#include "report/file.hpp"
#include "report/model.hpp"
#include "report/report.hpp"

#include <functional>

namespace tilewise::report {

namespace {

using nlohmann::json;

struct column {
  std::string_view name;  // with its unit
  std::string_view path;
};

const std::vector<column>& columns() {
  static const std::vector<column> all{
      {"id", "id"},
      {"time_utc", "time_utc"},
      {"status", "status"},
      {"reason", "reason"},
      {"hostname", "host.hostname"},
      {"cpu_model", "host.cpu_model"},
      {"device", "device.name"},
      {"device_description", "device.description"},
      {"driver", "device.driver"},
      {"group", "case.group"},
      {"algorithm", "case.algorithm"},
      {"variant", "case.variant"},
      {"peer", "case.peer"},
      {"order", "case.order"},
      {"dtype", "case.dtype"},
      {"n_elements", "case.n"},
      {"shape", "case.shape"},
      {"settings", "case.settings"},
      {"tuning", "case.tuning"},
      {"data", "case.data"},
      {"seed", "case.seed"},
      {"threads", "case.threads"},
      {"mode", "case.mode"},
      {"compulsory_bytes", "case.bytes_min"},
      {"operations", "case.operations"},
      {"verified", "verify.ok"},
      {"digest_xxh3_128", "verify.digest"},
      {"samples", "timing.kernel.n"},
      {"kernel_median_ns", "timing.kernel.median_ns"},
      {"kernel_ci95_low_ns", "timing.kernel.ci95_lo_ns"},
      {"kernel_ci95_high_ns", "timing.kernel.ci95_hi_ns"},
      {"kernel_min_ns", "timing.kernel.min_ns"},
      {"h2d_median_ns", "timing.h2d.median_ns"},
      {"d2h_median_ns", "timing.d2h.median_ns"},
      {"round_trip_median_ns", "timing.round_trip.median_ns"},
      {"end_to_end_median_ns", "timing.end_to_end.median_ns"},
      {"first_call_ns", "timing.first_call_ns"},
      {"elements_per_s", "derived.elements_per_s"},
      {"bytes_per_s", "derived.bytes_per_s"},
      {"operations_per_s", "derived.operations_per_s"},
      {"ceiling", "derived.ceiling"},
      {"fraction_of_ceiling", "derived.fraction_of_ceiling"},
      {"plausible", "derived.plausible"},
      {"version", "tool.version"},
      {"commit", "tool.commit"},
  };
  return all;
}

/// Quoted, and with an apostrophe before what a spreadsheet would run as a formula.
std::string cell(const std::string& text) {
  std::string quoted = "\"";
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) quoted += '\'';
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

std::string value_at(const json& record, const column& which) {
  const json* value = find(record, which.path);
  if (!value) return "";
  if (value->is_number() || value->is_boolean()) return value->dump();
  return cell(value->is_string() ? value->get<std::string>() : value->dump());
}

}  // namespace

void write_csv(const std::vector<json>& records, const std::filesystem::path& out) {
  std::string text;
  const auto add_line = [&](const std::function<std::string(const column&)>& value) {
    for (const column& c : columns()) text += (&c == &columns().front() ? "" : ",") + value(c);
    text += "\r\n";  // RFC 4180
  };
  add_line([](const column& c) { return std::string(c.name); });
  for (const json& record : records) add_line([&](const column& c) { return value_at(record, c); });
  write_file(out, text);
}

}  // namespace tilewise::report
