// SPDX-License-Identifier: Apache-2.0
// Turns a record into a row for the report: decides what counts as a measurement, and how problems are named.
#include "report/model.hpp"

#include "io/base64.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <sstream>

namespace tilewise::report {

namespace {

/// A time or a ratio; only a positive median counts as a measurement.
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

std::string quoted(const std::string& word) {
  constexpr std::string_view plain_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain_letters) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_of(const record::result& r) {
  std::string command;
  for (const std::string& word : r.argv) command += (command.empty() ? "" : " ") + quoted(word);
  return command;
}

/// Busy: other work on a quarter of the processors affects every parallel time.
bool was_busy(const record::host& host) {
  return host.load_avg_1m && host.threads && *host.load_avg_1m > static_cast<double>(*host.threads) / 4;
}

void add_times(const record::timing& timing, row& r) {
  r.kernel = interval_of(timing.kernel);
  r.h2d = interval_of(timing.h2d);
  r.d2h = interval_of(timing.d2h);
  r.round_trip = interval_of(timing.round_trip);
  if (!timing.kernel) r.kernel = interval_of(timing.end_to_end);
  if (timing.phases) r.phases = *timing.phases;
}

/// Whether the limit that a record names bounds its case. A whole job is bound by moving its data, whatever it
/// computes.
bool is_bound(const record::rates& rates, const row& r) {
  if (!rates.bound_by) return false;
  if (record::is_arithmetic(*rates.bound_by)) return !needs_fewer_operations(r);
  const bool were_both_measured = rates.ceiling_bytes_per_s && rates.ceiling_operations_per_s.value_or(std::nullopt);
  return were_both_measured || is_job(r.mode) || is_bound_by_memory_alone(r);
}

void add_rates(const record::rates& rates, row& r) {
  r.plausible = rates.plausible;
  r.bytes_per_s = rates.bytes_per_s;
  r.elements_per_s = rates.elements_per_s;
  r.operations_per_s = rates.operations_per_s.value_or(std::nullopt);
  if (!is_bound(rates, r)) return;
  r.fraction = rates.fraction_of_ceiling;
  r.bound_by = rates.bound_by;
}

bool is_hash(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Removes texts that are not a hash or a picture.
record::course with_valid_moments(record::course course) {
  std::erase_if(course.moments, [](const record::moment& m) { return !m.step; });
  for (record::moment& m : course.moments) {
    if (!is_hash(m.hash)) m.hash = "";
    if (m.published_hash && !is_hash(*m.published_hash)) m.published_hash.reset();
    if (!io::is_base64(m.picture_png)) m.picture_png = "";
  }
  return course;
}

void drop_pictures(record::course& of) {
  for (record::moment& m : of.moments) std::string().swap(m.picture_png);
}

}  // namespace

row_table::row_table(const record::results& records) {
  for (const record::result& r : records) add(r);
}

/// Caches are part of a machine's key: rented machines share host names, and generations of a processor share its name.
machine& row_table::machine_of(const record::result& of) {
  const std::string model = of.host.cpu_model ? " (" + *of.host.cpu_model + ")" : "";
  std::string identity = of.host.hostname + model;
  for (const record::cache& c : of.host.caches)
    identity += " " + std::to_string(c.level) + ":" + std::to_string(c.bytes);
  const auto [at, is_new] = machines_.try_emplace(identity, machine{"", of.host, of.tool, of.time_utc, of.time_utc});
  machine& on = at->second;
  if (is_new) {
    const std::size_t number = ++namesakes_[of.host.hostname + model];
    on.name = of.host.hostname + (number == 1 ? "" : " " + std::to_string(number)) + model;
  }
  on.first_time = std::min(on.first_time, of.time_utc);
  on.last_time = std::max(on.last_time, of.time_utc);
  return on;
}

/// Which processor is "opencl:1" depends on the drivers that were found. A later device with the name of another one is
/// called "opencl:1 (pthread-haswell)".
const record::device& row_table::device_of(const record::result& of, const machine& on) {
  const auto& [name, hardware] = std::tie(of.device.name, of.device.description);
  const auto first = devices_.lower_bound({&on, name, ""});
  const bool is_taken =
      first != devices_.end() && std::get<0>(first->first) == &on && std::get<1>(first->first) == name;
  const auto [at, is_new] = devices_.try_emplace({&on, name, hardware}, of.device);
  if (is_new && is_taken) at->second.name += " (" + hardware + ")";
  return at->second;
}

void row_table::add(const record::result& of) {
  const machine& on = machine_of(of);
  const record::device& hardware = device_of(of, on);
  const record::measured_case& c = of.what;
  row& r = rows_.emplace_back(row{.on = on,
                                  .hardware = hardware,
                                  .machine = on.name,
                                  .group = kept(c.group),
                                  .algorithm = kept(c.algorithm),
                                  .variant = kept(c.variant),
                                  .backend = kept(c.backend),
                                  .device = hardware.name,
                                  .dtype = kept(c.dtype),
                                  .settings = kept(settings_of(c)),
                                  .tuning = kept(c.tuning),
                                  .mode = kept(c.mode),
                                  .data = kept(c.data),
                                  .asked_data = kept(record::asked_data(of)),
                                  .reason = kept(of.reason.value_or("")),
                                  .digest = kept(of.verify ? of.verify->digest.value_or("") : ""),
                                  .reference_digest = kept(of.verify ? of.verify->reference_digest.value_or("") : ""),
                                  .reference = kept(of.verify ? of.verify->reference.value_or("") : ""),
                                  .governor = kept(of.host.governor.value_or("")),
                                  .build_type = kept(of.tool.build_type),
                                  .commit = kept(of.tool.commit.value_or("")),
                                  .command = kept(command_of(of)),
                                  .shape = kept(record::shape_text(c))});
  r.status = of.state;
  r.n = c.n;
  r.threads = c.threads.value_or(0);
  r.seed = c.seed;
  r.operations = c.operations;
  r.bytes = c.bytes_min;
  r.is_cpu = of.device.backend == "cpu";
  r.peer = c.peer;
  r.own_order = c.order == registry::claim::own;
  r.is_busy = was_busy(of.host);
  r.is_dirty = of.tool.dirty;
  if (of.verify) r.verified = of.verify->ok;
  if (of.verify) r.changed = of.verify->changed_outputs, r.relative_error = of.verify->max_relative_error;
  if (of.timing) add_times(*of.timing, r);
  if (of.derived) add_rates(*of.derived, r);
  if (of.noise) r.min_effect = of.noise->min_effect, r.visits_effect = of.noise->visits_effect;
  if (of.experiment) r.experiment = &experiments_.emplace_back(*of.experiment);
  if (of.ranks) r.ranks = &ranks_.emplace_back(*of.ranks);
  if (of.course) add_course(*of.course, r);
  add_ratios(of, r);
}

void row_table::add_ratios(const record::result& of, row& to) {
  for (const record::ratio& q : of.ratios)
    if (const auto value = interval_of(q.median, q.ci95_lo, q.ci95_hi))
      to.ratios.push_back(
          {kept(q.to), q.device == of.device.name ? to.device : kept(q.device), kept(q.tuning), *value});
}

/// Pictures are a hundred times as large as the rest of a record, so only one run of a machine keeps them.
void row_table::add_course(const record::course& course, row& to) {
  record::course& own = courses_.emplace_back(with_valid_moments(course));
  to.course = &own;
  record::course*& longest = longest_[&to.on];
  const bool is_shown =
      !to.wrong() && !own.moments.empty() && (!longest || own.moments.size() >= longest->moments.size());
  if (!is_shown) return drop_pictures(own);
  if (longest) drop_pictures(*longest);
  longest = &own;
}

std::string row::doubt() const {
  if (!timed() || ranked()) return "";
  if (is_above_limit_in_doubt()) return "faster than its limit allows, of which the time is in doubt";
  if (!plausible) return "cannot be true: " + (reason.empty() ? "faster than its measured limit allows" : reason);
  const auto spread = kernel->spread();
  return spread ? "interval ± " + percent(*spread) : "no interval";
}

std::string row::size() const { return shape.find('x') == shape.npos ? count(n) : shape; }
std::string row::at() const { return shape.find('x') == shape.npos ? "n\u00a0=\u00a0" + count(n) : shape; }

std::string row::name() const { return is_cpu ? name_on(variant, device) : short_name(variant); }

std::string shape_apart(const row& r) {
  const std::string side = std::to_string(r.n);
  for (const std::string& equal : {side, side + "x" + side, side + "x" + side + "x" + side})
    if (r.shape == equal) return "";
  return r.shape;
}

std::string shown_settings(const std::string& settings) {
  std::istringstream words(settings);
  std::string shown;
  for (std::string word; words >> word;)
    if (!word.ends_with("=none")) shown += (shown.empty() ? "" : " ") + word;
  return shown;
}

std::string with_data(const std::string& settings, const std::string& asked_data) {
  return asked_data.empty() ? settings : settings + (settings.empty() ? "" : " ") + "data=" + asked_data;
}

std::string name_on(const std::string& variant, const std::string& device) {
  return short_name(variant) + " @" + clipped(device, page_limits::name);
}

std::string short_name(const std::string& variant) {
  const std::size_t slash = variant.find('/');
  return clipped(slash == std::string::npos ? variant : variant.substr(slash + 1), page_limits::name);
}

}  // namespace tilewise::report
