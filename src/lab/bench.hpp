// SPDX-License-Identifier: Apache-2.0
// A whole plan: inputs and references are made once per problem, groups are measured one at a time.
#pragma once

#include "lab/group.hpp"
#include "lab/measured.hpp"
#include "lab/measuring.hpp"
#include "lab/pace.hpp"

namespace tilewise::lab {

struct bench_events {
  std::function<void(const group&, std::size_t index)> before_group = [](const group&, std::size_t) {};
  std::function<void(const row& by)> before_course = [](const row&) {};
  std::function<void(const measured&)> on_record = [](const measured&) {};
};

/// Stops after the group during which hooks.interrupted became true; its records are still delivered.
/// `kept` is the plan's pace; without one each row has the whole time of its rule.
void run_bench(std::span<const group> plan, const measuring& how, const bench_events& events, pace* kept = nullptr);

}  // namespace tilewise::lab
