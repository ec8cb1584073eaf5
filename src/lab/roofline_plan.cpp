#include "lab/roofline_plan.hpp"

#include "lab/limit.hpp"
#include "lab/verify.hpp"
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

std::vector<group> make_roofline_plan(const std::shared_ptr<backend::device>& on) {
  const device_info& info = on->info();
  std::vector<group> plan;
  for (const registry::algorithm* what : registry::algorithms()) {
    registry::problem p{.what = what, .type = what->types.front(), .shape = what->quick_shapes.back()};
    give_numbers(p, 1);
    const auto choice = chosen(p, *on);
    if (!choice) continue;
    group all{p, info.backend == "cpu" ? "cpu" : sized_name(*on), {{choice->variant, on, choice->tuning}}};
    for (const registry::variant* limit : limits_of(p, info.backend)) all.rows.push_back({limit, on});
    plan.push_back(std::move(all));
  }
  return plan;
}

}  // namespace tilewise::lab
