// SPDX-License-Identifier: Apache-2.0
#include "lab/measured.hpp"

#include "base/failure_code.hpp"
#include "lab/statistics.hpp"

namespace tilewise::lab {

void measured::end(record::status state, const std::string& reason) {
  result.state = state;
  result.reason = reason;
  result.timing.reset();
  result.derived.reset();
  if (result.ranks) result.ranks->exchange_ns.reset();
  result.ratios.clear();
}

void measured::fail(const std::string& why, std::optional<errc> code) {
  end(record::status::failed, why);
  failure = code;
}

void measured::interrupt() {
  result.state = record::status::interrupted;
  result.reason = "Ctrl-C";
}

void measured::guard(const round_hooks& hooks, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    hooks.on_failure(thrown);
    fail(thrown.what(), base::failure_code(thrown));
  }
}

const record::clock* measured::time() const {
  if (!result.timing) return nullptr;
  const auto& taken = result.timing->kernel ? result.timing->kernel : result.timing->end_to_end;
  return taken ? &*taken : nullptr;
}

void check_and_time(std::vector<measured>& rows, const round_hooks& hooks,
                    const std::function<void(std::size_t)>& check, const std::function<void()>& time) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_ok()) continue;
    if (hooks.interrupted())
      rows[i].interrupt();
    else
      check(i);
  }
  time();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].is_ok()) check(i);
}

record::clock clock_of(const series& taken) {
  const summary s = summarize(taken.ns);
  return {.n = s.n,
          .calls_per_sample = taken.calls_per_sample,
          .median_ns = s.median,
          .ci95_lo_ns = s.ci95 ? record::maybe_number(s.ci95->lo) : std::nullopt,
          .ci95_hi_ns = s.ci95 ? record::maybe_number(s.ci95->hi) : std::nullopt,
          .min_ns = s.min,
          .max_ns = s.max,
          .q1_ns = s.q1,
          .q3_ns = s.q3,
          .mad_ns = s.mad,
          .mean_ns = s.mean,
          .outliers = s.outliers,
          .stop_reason = std::string(name_of(taken.reason)),
          .samples_ns = taken.ns};
}

}  // namespace tilewise::lab
