// A record as the report needs it: what counts as a measurement, and what problems are called.
#include "report/model.hpp"

#include "report/format.hpp"

namespace tilewise::report {

namespace {

/// A time or a ratio: only positive medians are measurements.
std::optional<interval> interval_of(record::maybe_number median, record::maybe_number low, record::maybe_number high) {
  if (!median || !(*median > 0)) return std::nullopt;
  return interval{*median, low, high};
}

std::optional<interval> interval_of(const std::optional<record::clock>& taken) {
  return taken ? interval_of(taken->median_ns, taken->ci95_lo_ns, taken->ci95_hi_ns) : std::nullopt;
}

std::string settings_of(const record::measured_case& c) {
  std::string words;
  for (const auto& [name, value] : record::ordered_settings(c))
    words += (words.empty() ? "" : " ") + name + "=" + value;
  return words;
}

void add_times(const record::timing& timing, row& r) {
  r.kernel = interval_of(timing.kernel);
  r.h2d = interval_of(timing.h2d);
  r.d2h = interval_of(timing.d2h);
  r.round_trip = interval_of(timing.round_trip);
}

void add_rates(const record::rates& rates, row& r) {
  r.plausible = rates.plausible;
  r.bytes_per_s = rates.bytes_per_s;
  r.elements_per_s = rates.elements_per_s;
  r.operations_per_s = rates.operations_per_s.value_or(std::nullopt);
  r.fraction = rates.fraction_of_ceiling;
  r.bound_by = rates.bound_by;
}

void add_verification(const record::verification& v, row& r) {
  r.verified = v.ok;
  r.digest = v.digest.value_or("");
  r.reference_digest = v.reference_digest.value_or("");
  r.changed = v.changed_outputs;
}

}  // namespace

row make_row(const record::result& of) {
  row r;
  r.result = &of;
  r.group = of.what.group;
  r.algorithm = of.what.algorithm;
  r.variant = of.what.variant;
  r.backend = of.what.backend;
  r.device = of.device.name;
  r.dtype = of.what.dtype;
  r.settings = settings_of(of.what);
  r.tuning = of.what.tuning;
  r.mode = of.what.mode;
  r.data = of.what.data;
  // Rented machines share host names.
  r.machine = of.host.hostname + " (" + of.host.cpu_model.value_or("") + ")";
  r.status = of.state;
  r.reason = of.reason.value_or("");
  r.source = of.what.source;
  r.n = of.what.n;
  r.shape = record::shape_text(of.what);
  r.threads = of.what.threads.value_or(0);
  r.seed = of.what.seed;
  r.is_cpu = of.device.backend == "cpu";
  r.peer = of.what.peer;
  r.own_order = of.what.order == registry::claim::own;
  if (of.verify) add_verification(*of.verify, r);
  if (of.timing) add_times(*of.timing, r);
  if (of.derived) add_rates(*of.derived, r);
  if (of.noise) r.min_effect = of.noise->min_effect;
  return r;
}

std::vector<ratio> row::ratios() const {
  std::vector<ratio> all;
  for (const record::ratio& q : result->ratios)
    if (const auto value = interval_of(q.median, q.ci95_lo, q.ci95_hi)) all.push_back({q.to, q.device, *value});
  return all;
}

std::string row::size() const { return shape.find('x') == shape.npos ? count(n) : shape; }
std::string row::at() const { return shape.find('x') == shape.npos ? "n\u00a0=\u00a0" + count(n) : shape; }

std::string short_name(const std::string& variant) {
  const std::size_t slash = variant.find('/');
  return slash == std::string::npos ? variant : variant.substr(slash + 1);
}

}  // namespace tilewise::report
