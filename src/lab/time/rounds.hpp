// SPDX-License-Identifier: Apache-2.0
// Contenders are measured alternately, A B C then C B A: whatever disturbs the machine meanwhile affects all of them.
#pragma once

#include "lab/time/sampler.hpp"
#include "lab/time/stop_rule.hpp"

#include <tilewise/error.hpp>

#include <exception>
#include <optional>
#include <span>
#include <vector>

namespace tilewise::lab {

/// The samples of one contender; sample r was taken in round r.
struct series {
  std::uint64_t calls_per_sample = 1;
  std::vector<double> ns;  // per call
  stop_reason reason = stop_reason::max_time;
  std::string failure = {};  // what the contender threw; it took no further part
  std::optional<errc> failure_code = std::nullopt;
};

/// What ranks of several processes ask is answered alike in all of them, and what fails in one ends them.
struct round_hooks {
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const contender& next, std::size_t round)> before_sample = [](const contender&, std::size_t) {};
  std::function<void(const std::exception&)> on_failure = [](const std::exception&) {};  // before anything else runs
};

/// Warm-up of each, then rounds of one sample each; a call that outlasts the rule's time is a sample at once. A
/// contender leaves when it meets a cap of the rule or throws; the others go on until each has met the rule.
std::vector<series> measure_in_rounds(std::span<const contender> contenders, const stop_rule& rule,
                                      const round_hooks& hooks = {});

}  // namespace tilewise::lab
