// SPDX-License-Identifier: Apache-2.0
#include "lab/scale/plan.hpp"

#include "backend/cpu/device.hpp"
#include "backend/group/device.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/plan/problems.hpp"
#include "lab/roofline/limit.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

using device_handle = std::shared_ptr<backend::device>;

struct team {
  unsigned size;
  device_handle on;
};

/// The teams to measure: all of threads, or all of ranks.
struct teams {
  device_handle one;  // runs the programs for one processor
  std::vector<team> all;
  std::uint64_t cache_bytes;  // of the largest team
  bool are_threads;
};

teams teams_of_threads(const scaling_request& wanted) {
  const device_info& info = wanted.on->info();
  if (info.name == "cpu:serial")
    throw error(errc::invalid_argument,
                "cpu:serial has one thread; name cpu, cpu:openmp, or a group of it such as 4*cpu:serial");
  const unsigned most = wanted.threads != 0 ? wanted.threads : info.compute_units;
  if (most == 1)
    throw error(
        errc::unsupported,
        "this process may use one processor only; --threads 4 measures more threads than that, which take turns");
  teams found{backend::cpu::make_device("cpu:serial", {}), {}, info.cache, true};
  for (const unsigned p : processor_counts(most))
    found.all.push_back({p, backend::cpu::make_device(info.name, {.threads = p, .instruction_set = {}})});
  return found;
}

/// Each member has the same number of threads in a small group as in the largest.
teams teams_of_ranks(const scaling_request& wanted) {
  const auto members = backend::group::members_of(*wanted.on);
  const device_info& first = members.front()->info();
  if (members.size() == 1)
    throw error(errc::invalid_argument, wanted.on->info().name + " has one member; name a group of several");
  const auto is_like_first = [&](const device_info& info) {
    return info.name == first.name ||
           (info.backend == first.backend && info.backend != "cpu" && info.description == first.description);
  };
  for (const device_handle& member : members)
    if (!is_like_first(member->info()))
      throw error(errc::invalid_argument, wanted.on->info().name + " has members of several kinds, " + first.name +
                                              " and " + member->info().name + "; scaling needs equal ones");
  const auto count = static_cast<unsigned>(members.size());
  const unsigned all = wanted.threads != 0 ? wanted.threads : backend::find_device("cpu", {})->info().compute_units;
  const unsigned share = first.backend == "cpu" ? std::max(1u, all / count) : 0;
  const bool is_one_name = std::all_of(members.begin(), members.end(),
                                       [&](const device_handle& member) { return member->info().name == first.name; });
  teams found{backend::find_device(first.name, {.threads = share, .instruction_set = {}}), {}, 0, false};
  std::string names;
  for (const unsigned p : processor_counts(count)) {
    names.clear();
    for (unsigned i = 0; i < p; ++i) names += (i == 0 ? "" : "+") + members[i]->info().name;
    const std::string name = is_one_name || p == 1 ? std::to_string(p) + "*" + first.name : names;
    found.all.push_back({p, backend::find_device(name, {.threads = share * p, .instruction_set = {}})});
  }
  // Each GPU has its own cache; teams of the CPU share one.
  found.cache_bytes = first.cache * (first.backend == "cpu" ? 1 : count);
  return found;
}

teams teams_of(const scaling_request& wanted) {
  const device_info& info = wanted.on->info();
  if (info.backend == "cpu") return teams_of_threads(wanted);
  if (info.backend == "group") return teams_of_ranks(wanted);
  throw error(errc::invalid_argument,
              info.name + " cannot be split; name the CPU, or a group such as " + info.backend + ":*");
}

std::vector<const registry::algorithm*> selected(const scaling_request& wanted) {
  std::vector<const registry::algorithm*> all;
  for (const std::string& name : wanted.algorithms) {
    const registry::algorithm& named = registry::find_algorithm(name);
    if (wanted.is_weak && named.grows_unevenly)
      throw error(errc::invalid_argument,
                  name + " has no weak scaling: its work is not in proportion to its size; leave --weak out");
    if (std::find(all.begin(), all.end(), &named) == all.end()) all.push_back(&named);
  }
  if (wanted.algorithms.empty())
    for (const registry::algorithm* a : registry::algorithms())
      if (!wanted.is_weak || !a->grows_unevenly) all.push_back(a);
  return all;
}

/// The first usual size beyond the caches. The algorithm's usual sizes are in the order of their work.
registry::extents beyond_caches(const registry::algorithm& what, std::uint64_t cache_bytes) {
  const auto found =
      std::find_if(what.normal_shapes.begin(), what.normal_shapes.end(), [&](const registry::extents& s) {
        return operand_bytes({.what = &what, .type = what.types.front(), .shape = s}) > cache_bytes;
      });
  return found == what.normal_shapes.end() ? what.normal_shapes.back() : *found;
}

/// The problem with the algorithm's first type and first settings.
registry::problem posed(const registry::algorithm& what, request asked) {
  asked.types = {what.types.front()};
  const asked_problems found = problems_of(what, asked);
  if (found.all.empty()) throw error(errc::invalid_argument, found.refused);
  return found.all.front();
}

registry::problem problem_for_one(const registry::algorithm& what, const scaling_request& wanted,
                                  std::uint64_t cache_bytes) {
  request asked;
  if (wanted.n != 0)
    asked.sizes = {wanted.n};
  else
    asked.shapes = {beyond_caches(what, cache_bytes)};
  return posed(what, std::move(asked));
}

/// Candidates for the best program on one processor. On the CPU these are all variants and peers. If the definition
/// takes seconds, our variants may too; then of ours only the choice of `auto` is a candidate.
std::vector<row> rows_for_one(const registry::problem& p, const device_handle& on) {
  std::vector<row> rows;
  const registry::choice chosen = registry::choose(p, *on);
  for (const registry::variant* v : registry::variants_of(*p.what)) {
    const bool is_chosen = v == chosen.variant;
    const bool is_quick = on->info().backend == "cpu" && (v->peer || is_definition_timed(p));
    const registry::tuning t = registry::default_tuning(v->tuning);
    if ((is_chosen || is_quick) && registry::unsupported_reason(*v, p, *on, t).empty()) rows.push_back({v, on, t});
  }
  return rows;
}

/// The groups of one algorithm. Rows for one processor come first.
class algorithm_plan {
 public:
  algorithm_plan(const registry::problem& for_one, const teams& on, bool is_weak)
      : for_one_(for_one),
        on_(on),
        is_weak_(is_weak),
        same_(registry::choose(problem_for(on.all.back()), *on.all.back().on)) {}

  void append_to(std::vector<group>& plan) const {
    group all = begun(for_one_, on_.all.back());
    all.rows = rows_for_one(for_one_, on_.one);
    for (const team& t : on_.all) {
      if (is_weak_ && t.size > 1) {
        plan.push_back(ended(std::move(all)));
        all = begun(problem_for(t), t);
      }
      all.rows.push_back({same_.variant, t.on, same_.tuning,
                          registry::unsupported_reason(*same_.variant, all.problem, *t.on, same_.tuning),
                          same_.applied});
    }
    plan.push_back(ended(std::move(all)));
  }

 private:
  registry::problem problem_for(const team& t) const {
    request asked;
    asked.shapes = {for_one_.shape};
    if (is_weak_) asked.shapes.front().size[0] *= t.size;
    return posed(*for_one_.what, std::move(asked));
  }
  group begun(const registry::problem& p, const team& t) const {
    return {p, on_.are_threads ? "cpu" : t.on->info().name, {}};
  }
  /// Adds limits for teams of threads only: the limits of several devices do not bound one of them.
  group ended(group all) const {
    const device_handle last = all.rows.back().on;
    if (on_.are_threads)
      for (const registry::variant* limit : limits_of(all.problem, "cpu")) all.rows.push_back({limit, last});
    return all;
  }

  registry::problem for_one_;
  const teams& on_;
  bool is_weak_;
  registry::choice same_;  // the program for all rows except those for one processor
};

}  // namespace

std::vector<unsigned> processor_counts(unsigned most) {
  std::vector<unsigned> counts;
  for (unsigned power = 1; power < most; power *= 2) {
    counts.push_back(power);
    if (power > 1 && power / 2 * 3 < most) counts.push_back(power / 2 * 3);
  }
  counts.push_back(most);
  return counts;
}

std::vector<group> make_scaling_plan(const scaling_request& wanted) {
  const std::vector<const registry::algorithm*> algorithms = selected(wanted);
  const teams on = teams_of(wanted);
  std::vector<group> plan;
  for (const registry::algorithm* what : algorithms)
    algorithm_plan(problem_for_one(*what, wanted, on.cache_bytes), on, wanted.is_weak).append_to(plan);
  return plan;
}

}  // namespace tilewise::lab
