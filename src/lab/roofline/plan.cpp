// SPDX-License-Identifier: Apache-2.0
#include "lab/roofline/plan.hpp"

#include "lab/plan/problems.hpp"
#include "lab/roofline/limit.hpp"
#include "registry/catalog.hpp"
#include "registry/choose.hpp"

namespace tilewise::lab {

namespace {

std::optional<registry::choice> chosen(const registry::problem& p, const backend::device& on) {
  try {
    return registry::choose(p, on);
  } catch (const error&) {
    return std::nullopt;  // it has no variant of it
  }
}

}  // namespace

std::vector<group> make_roofline_plan(const std::shared_ptr<backend::device>& on, std::uint64_t n) {
  const device_info& info = on->info();
  std::vector<group> plan;
  std::string refused;
  for (const registry::algorithm* what : registry::algorithms()) {
    request asked;
    asked.types = {what->types.front()};
    if (n != 0)
      asked.sizes = {n};
    else
      asked.shapes = {what->quick_shapes.back()};
    const asked_problems posed = problems_of(*what, asked);
    if (posed.all.empty()) {
      refused = posed.refused;
      continue;
    }
    const registry::problem& p = posed.all.front();
    const auto choice = chosen(p, *on);
    if (!choice) continue;
    group all{p, info.backend == "cpu" ? "cpu" : sized_name(*on), {}};
    all.rows.push_back({choice->variant, on, choice->tuning, {}, choice->applied});
    for (const registry::variant* limit : limits_of(p, info.backend)) all.rows.push_back({limit, on});
    plan.push_back(std::move(all));
  }
  if (plan.empty() && !refused.empty()) throw error(errc::invalid_argument, refused);
  return plan;
}

}  // namespace tilewise::lab
