// SPDX-License-Identifier: Apache-2.0
#include "record/json.hpp"
#include "report/report.hpp"

#include <tilewise/error.hpp>

#include <cmath>
#include <span>

namespace tilewise::report {

namespace {

using nlohmann::ordered_json;

/// Identifies a series of times in the history that is drawn of them. Without the tuning: a new default tuning
/// continues the series.
std::string name_of_series(const record::result& r) {
  const record::measured_case& c = r.what;
  std::string name = c.group + " " + c.variant + "@" + r.device.name;
  for (const std::string& word : {c.threads ? "threads=" + std::to_string(*c.threads) : "",
                                  std::string(record::asked_data(r)), c.mode == "hot" ? "" : c.mode})
    if (!word.empty()) name += " " + word;
  return name;
}

ordered_json context_of(const record::result& r) {
  ordered_json caches = ordered_json::array();
  for (const record::cache& c : r.host.caches) caches.push_back({{"level", c.level}, {"size", c.bytes}});
  return {{"date", r.time_utc},
          {"host_name", r.host.hostname},
          {"executable", "tilewise"},
          {"num_cpus", r.host.threads.value_or(0)},
          {"caches", std::move(caches)},
          {"load_avg", ordered_json::array({r.host.load_avg_1m.value_or(0)})},
          {"library_build_type", r.tool.build_type == "Release" ? "release" : "debug"},
          {"library_version", r.tool.version},
          {"commit", r.tool.commit.value_or("")},
          {"cpu_model", r.host.cpu_model.value_or("")}};
}

/// The kernel's time, or a whole job's; null if there is none that can be true.
const record::clock* time_of(const record::result& r) {
  if (r.state != record::status::ok || !r.timing || (r.verify && !r.verify->ok)) return nullptr;
  const auto& taken = r.timing->kernel ? r.timing->kernel : r.timing->end_to_end;
  const bool has_time = taken && taken->median_ns && *taken->median_ns > 0 && std::isfinite(*taken->median_ns);
  return has_time && (!r.derived || r.derived->plausible) ? &*taken : nullptr;
}

/// The format has no median, and the processor's own time is not measured: both of its times are the median.
ordered_json run_of(const record::result& r, const record::clock& taken, const std::string& name) {
  ordered_json run{{"name", name},
                   {"run_name", name},
                   {"run_type", "iteration"},
                   {"repetitions", 1},
                   {"repetition_index", 0},
                   {"threads", r.what.threads.value_or(1)},
                   {"iterations", taken.n * taken.calls_per_sample},
                   {"real_time", *taken.median_ns},
                   {"cpu_time", *taken.median_ns},
                   {"time_unit", "ns"}};
  if (r.derived && r.derived->bytes_per_s) run["bytes_per_second"] = *r.derived->bytes_per_s;
  if (r.derived && r.derived->elements_per_s) run["items_per_second"] = *r.derived->elements_per_s;
  return run;
}

bool is_of_machine(const ordered_json& context, const record::result& r) {
  return context["host_name"] == r.host.hostname && context["cpu_model"] == r.host.cpu_model.value_or("");
}

}  // namespace

google_benchmark_file::google_benchmark_file(const std::filesystem::path& out) : file_(out.string()) {}

void google_benchmark_file::add(const record::result& r) {
  const record::clock* const taken = time_of(r);
  if (taken == nullptr) return;
  if (!context_.is_null() && !is_of_machine(context_, r))
    throw error(
        errc::invalid_argument,
        "--google-benchmark has room for one machine, and the records are of several; give one machine's files");
  context_ = context_of(r);
  std::string name = name_of_series(r);
  if (first_tunings_.try_emplace(name, r.what.tuning).first->second != r.what.tuning) name += " " + r.what.tuning;
  const auto [at, is_new] = places_.try_emplace(name, runs_.size());
  if (is_new) runs_.emplace_back();
  runs_[at->second] = run_of(r, *taken, name);
}

void google_benchmark_file::commit() {
  if (runs_.empty()) throw error(errc::io, "--google-benchmark: no record has a time; `tilewise report` says why");
  const ordered_json all{{"context", context_}, {"benchmarks", runs_}};
  const std::string text = all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  file_.write(std::as_bytes(std::span(text)));
  file_.commit();
}

}  // namespace tilewise::report
