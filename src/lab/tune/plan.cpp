// SPDX-License-Identifier: Apache-2.0
#include "lab/tune/plan.hpp"

#include "lab/plan/problems.hpp"
#include "registry/catalog.hpp"
#include "registry/choose.hpp"
#include "registry/meanings.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

std::size_t changes_of(const registry::tuning& t, const registry::tuning& preset) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < t.value.size(); ++i) changes += t.value[i] != preset.value[i];
  return changes;
}

tuning_case case_of(const registry::problem& p, const registry::variant& v,
                    const std::shared_ptr<backend::device>& on) {
  const registry::tuning preset = registry::default_tuning(v.tuning);
  tuning_case c{p, &v, on, {preset}};
  for (const registry::tuning& t : registry::tuning_space(v.tuning))
    if (t != preset && registry::unsupported_reason(v, p, *on, t).empty()) c.tunings.push_back(t);
  std::stable_sort(c.tunings.begin(), c.tunings.end(), [&](const registry::tuning& a, const registry::tuning& b) {
    return changes_of(a, preset) < changes_of(b, preset);
  });
  return c;
}

/// What the device computes it with by default. Throws `unsupported` if nothing.
const registry::variant& variant_for(const tunable& asked, const registry::problem& p, const backend::device& on) {
  const std::string id = asked.by == nullptr ? "" : asked.by->id();
  return *registry::choose(p, on, {.variant = id}).variant;
}

void refuse_group(const backend::device& on) {
  if (on.info().backend == "group")
    throw error(errc::unsupported, on.info().name +
                                       " is a group, whose ranks must all compute alike, wherever they are; tune the "
                                       "devices that it consists of");
}

}  // namespace

std::vector<tunable> tunables_called(const std::string& name) {
  std::vector<tunable> found;
  std::vector<std::string> known;
  for (const registry::algorithm* a : registry::algorithms()) {
    if (a->name == name) return {{a, nullptr}};
    known.emplace_back(a->name);
    for (const registry::variant* v : registry::variants_of(*a)) {
      if (v->is_called(name)) found.push_back({a, v});
      known.push_back(v->id());
    }
  }
  if (found.empty())
    throw error(errc::invalid_argument, "there is no algorithm and no variant '" + name + "';" +
                                            registry::suggestion(registry::missing::algorithm, name, known));
  return found;
}

std::vector<tuning_case> make_tuning_plan(const request& wanted) {
  std::vector<tunable> all;
  std::vector<const registry::algorithm*> selected;
  for (const std::string& name : wanted.selectors)
    for (const tunable& t : tunables_called(name)) {
      all.push_back(t);
      selected.push_back(t.what);
    }
  refuse_foreign(selected, wanted);
  std::vector<tuning_case> plan;
  std::string refused;
  for (const auto& on : wanted.devices) {
    refuse_group(*on);
    for (const tunable& asked : all) {
      const asked_problems posed = problems_of(*asked.what, wanted);
      if (posed.all.empty() && !posed.refused.empty()) throw error(errc::invalid_argument, posed.refused);
      for (const registry::problem& p : posed.all) try {
          plan.push_back(case_of(p, variant_for(asked, p, *on), on));
        } catch (const error& why) {
          refused = why.what();
        }
    }
  }
  if (plan.empty()) throw error(errc::unsupported, refused.empty() ? "no algorithm named takes these types" : refused);
  return plan;
}

}  // namespace tilewise::lab
