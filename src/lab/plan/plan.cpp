// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/plan.hpp"

#include "backend/cpu/device.hpp"
#include "backend/group/mpi_world.hpp"
#include "lab/bench/public_call.hpp"
#include "lab/plan/problems.hpp"
#include "lab/roofline/limit.hpp"
#include "registry/meanings.hpp"
#include "registry/tuned.hpp"

#include <algorithm>
#include <set>

#include <fnmatch.h>

namespace tilewise::lab {

using registry::variant;

namespace {

using device_list = std::vector<std::shared_ptr<backend::device>>;

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// All variants of an algorithm in the catalog, and its public call.
std::vector<const variant*> candidates(const registry::algorithm& what) {
  std::vector<const variant*> all = registry::variants_of(what);
  for (const variant& call : public_calls())
    if (call.algorithm == what.name) all.push_back(&call);
  return all;
}

bool is_meant(const std::string& selector, const variant& v) {
  return selector == v.algorithm || v.is_called(selector) || matches(selector, v.id());
}

bool is_selected(const variant& v, const request& wanted) {
  if (!wanted.variant.empty() && !v.is_called(wanted.variant)) return false;
  return wanted.selectors.empty() || std::any_of(wanted.selectors.begin(), wanted.selectors.end(),
                                                 [&](const std::string& selector) { return is_meant(selector, v); });
}

/// Whole jobs run each device's own choice, unless variants are named.
bool is_of_choices(const request& wanted) {
  const auto is_algorithm = [](const std::string& selector) {
    return std::any_of(registry::algorithms().begin(), registry::algorithms().end(),
                       [&](const registry::algorithm* a) { return selector == a->name; });
  };
  return is_whole_job(wanted.what) && wanted.variant.empty() && wanted.tuning.empty() &&
         std::all_of(wanted.selectors.begin(), wanted.selectors.end(), is_algorithm);
}

bool is_wanted(const variant& v, const request& wanted) {
  if (is_of_choices(wanted) && v.backend == "serial") return false;
  const bool has_calls = wanted.public_calls && !wanted.is_first_look() && !is_whole_job(wanted.what);
  return is_selected(v, wanted) && (has_calls || !is_public_call(v));
}

void refuse_unmatched(const request& wanted) {
  std::vector<std::string> known;
  std::vector<const variant*> all;
  for (const registry::algorithm* a : registry::algorithms()) {
    known.emplace_back(a->name);
    for (const variant* v : candidates(*a)) {
      known.push_back(v->id());
      known.push_back(v->name.empty() ? v->label() : std::string(v->name));
      all.push_back(v);
    }
  }
  for (const std::string& selector : wanted.selectors)
    if (std::none_of(all.begin(), all.end(), [&](const variant* v) { return is_meant(selector, *v); }))
      throw error(errc::invalid_argument, "nothing is called '" + selector + "';" +
                                              registry::suggestion(registry::missing::algorithm, selector, known));
  if (wanted.variant.empty()) return;
  if (std::none_of(all.begin(), all.end(), [&](const variant* v) { return v->is_called(wanted.variant); }))
    throw error(errc::invalid_argument,
                "no variant is called '" + wanted.variant + "';" + registry::nearest_variant(wanted.variant, all));
}

std::vector<const registry::algorithm*> selected_algorithms(const request& wanted) {
  std::vector<const registry::algorithm*> selected;
  for (const registry::algorithm* a : registry::algorithms()) {
    const auto all = candidates(*a);
    if (std::any_of(all.begin(), all.end(), [&](const variant* v) { return is_selected(*v, wanted); }))
      selected.push_back(a);
  }
  return selected;
}

/// Devices that share one group of rows: all CPU executors together, or one other device. Serial code and peers with
/// one thread run on cpu:serial, which is added if the caller did not name it.
struct place {
  std::string name;
  device_list devices;  // as the caller asked
  device_list all;      // also cpu:serial, first
};

std::vector<place> places_of(const device_list& devices) {
  std::vector<place> places;
  for (const auto& d : devices) {
    const bool is_cpu = d->info().backend == "cpu";
    const std::string name = is_cpu ? "cpu" : sized_name(*d);
    auto found = std::find_if(places.begin(), places.end(), [&](const place& p) { return p.name == name; });
    if (found == places.end()) found = places.insert(places.end(), {name, {}, {}});
    found->devices.push_back(d);
    found->all.push_back(d);
  }
  for (place& p : places) {
    if (p.name != "cpu") continue;
    const auto is_serial = [](const auto& d) { return d->info().name == "cpu:serial"; };
    if (std::none_of(p.all.begin(), p.all.end(), is_serial))
      p.all.insert(p.all.begin(), backend::cpu::make_device("cpu:serial", {}));
    std::stable_partition(p.all.begin(), p.all.end(), is_serial);
  }
  return places;
}

void add_rows(std::vector<row>& rows, const registry::problem& p, const variant& v,
              const std::shared_ptr<backend::device>& on, const std::vector<registry::starting_tuning>& tunings) {
  for (const auto& [values, applied] : tunings) {
    const std::string reason = registry::unsupported_reason(v, p, *on, values);
    const bool has_type = std::find(v.types.begin(), v.types.end(), p.type) != v.types.end();
    if (reason.empty() || (has_type && tunings.size() == 1)) rows.push_back({&v, on, values, reason, applied});
  }
}

/// The device for code that does not use the executor, such as a peer, and so is measured once. It is the last device
/// that can run it, which has threads if any has.
std::shared_ptr<backend::device> only_device(const registry::problem& p, const variant& v, const device_list& all) {
  const registry::tuning t = registry::default_tuning(v.tuning);
  for (auto d = all.rbegin(); d != all.rend(); ++d)
    if (registry::unsupported_reason(v, p, **d, t).empty()) return *d;
  return nullptr;
}

/// In a first look this algorithm has rows for all its variants at the larger size: they are the steps of a well-known
/// ladder, and OpenCL compiles them quickly.
constexpr std::string_view ladder_of_first_look = "matmul";

bool is_opencl_on_cpu(const device_info& info) { return info.backend == "opencl" && info.is_cpu; }
bool is_another_team(const device_info& info) { return info.name == "cpu:openmp" || info.name == "cpu:tbb"; }

/// Whether the device would choose another variant. If it can choose none, all are shown with the reasons.
bool is_passed_over(const registry::problem& p, const variant& v, const backend::device& on, const request& wanted) {
  const bool is_ladder =
      p.what->name == ladder_of_first_look && p.shape != p.what->quick_shapes.front() && !is_whole_job(wanted.what);
  if (is_ladder && !is_opencl_on_cpu(on.info())) return false;  // OpenCL on a CPU takes seconds to compile each step
  try {
    return registry::choose(p, on).variant != &v;
  } catch (const error&) {
    return false;
  }
}

/// Whether a first look or a whole job leaves a variant out on this device. OpenMP and oneTBB run the same kernels as
/// cpu:threads, so they are measured only if the caller names devices. A peer such as CLBlast takes half a minute to
/// compile on a CPU, and is never chosen.
bool is_for_later(const registry::problem& p, const variant& v, const backend::device& on, const request& wanted) {
  const bool is_job = is_of_choices(wanted);
  if (!wanted.is_first_look() && !is_job) return false;
  if (v.peer) return is_opencl_on_cpu(on.info());
  if (is_job && is_opencl_on_cpu(on.info()) && !wanted.names_devices) return true;
  return (is_another_team(on.info()) && !wanted.names_devices) || is_passed_over(p, v, on, wanted);
}

/// Whether the document's experiment includes the variant. OpenMP and oneTBB are included only where they repeat one of
/// its programs, for peers, or if the caller names devices.
bool is_of_experiment(const variant& v, const backend::device& on, const experiment* from, const request& wanted) {
  if (from == nullptr) return true;
  if (!matches(std::string(from->only), v.id())) return false;
  const bool is_repeated = method_of(*from, v.id(), on.info().name) != nullptr;
  return wanted.names_devices || !is_another_team(on.info()) || v.peer || is_repeated;
}

/// Whether the caller named the variant or its device, and not only the algorithm.
bool is_named(const variant& v, const request& wanted) {
  return wanted.names_devices || !wanted.variant.empty() ||
         std::any_of(wanted.selectors.begin(), wanted.selectors.end(),
                     [&](const std::string& s) { return s != v.algorithm && is_meant(s, v); });
}

/// The tunings to measure: what calls use, unless others are asked for. Documents are measured with the default, or
/// with all tunings of a sweep.
std::vector<registry::starting_tuning> tunings_of(const registry::problem& p, const variant& v,
                                                  const backend::device& on, const experiment* from,
                                                  const request& wanted) {
  if (from == nullptr && wanted.tuning.empty()) return {registry::tuning_to_start_with(v, p, on)};
  const bool is_swept = from != nullptr && wanted.tuning.empty() && v.id() == from->sweep;
  if (!is_swept && wanted.tuning != "all")
    return {{registry::parse_tuning(v.tuning.empty() ? "" : wanted.tuning, v.tuning)}};
  std::vector<registry::starting_tuning> all;
  for (const registry::tuning& t : registry::tuning_space(v.tuning)) all.push_back({t});
  return all;
}

/// The definition is also measured if it is a document's baseline, however long one call takes.
bool is_definition_wanted(const registry::problem& p, const experiment* from) {
  return is_definition_timed(p) || (from != nullptr && from->baseline == registry::reference_of(*p.what).id());
}

std::vector<row> rows_of(const registry::problem& p, const experiment* from, const place& where,
                         const request& wanted) {
  std::vector<row> rows;
  for (const variant* v : candidates(*p.what)) {
    if (!is_wanted(*v, wanted) || v->device_backend() != where.all.front()->info().backend) continue;
    if (v->backend == "serial") {
      if (!is_of_experiment(*v, *where.all.front(), from, wanted)) continue;
      add_rows(rows, p, *v, where.all.front(), {{registry::default_tuning(v->tuning)}});
      if (!is_definition_wanted(p, from)) rows.back().skip = "one call of the definition takes seconds at this size";
    } else if (v->peer || is_public_call(*v)) {
      const auto only = only_device(p, *v, where.all);
      if (only == nullptr || is_for_later(p, *v, *only, wanted) || !is_of_experiment(*v, *only, from, wanted)) continue;
      add_rows(rows, p, *v, only, {{registry::default_tuning(v->tuning)}});
      const bool is_program = from != nullptr && method_of(*from, v->id(), only->info().name) != nullptr;
      if (v->peer && !is_program && is_opencl_on_cpu(only->info()) && !is_named(*v, wanted))
        rows.back().skip = "a CPU's OpenCL compiles it for up to a minute a type; name it or the device";
    } else {
      for (const auto& d : where.devices)
        if (!is_for_later(p, *v, *d, wanted) && is_of_experiment(*v, *d, from, wanted))
          add_rows(rows, p, *v, d, tunings_of(p, *v, *d, from, wanted));
    }
  }
  return rows;
}

/// One group for all devices together, since a user chooses among them.
group jobs_of(const registry::problem& p, const experiment* from, const std::vector<place>& places,
              const request& wanted) {
  const bool of_files = wanted.what == mode::file_to_file;
  group all{.problem = p, .where = of_files ? "files" : "host", .rows = {}, .asked_data = wanted.data};
  std::vector<row> limits;
  for (const place& where : places) {
    const std::vector<row> rows = rows_of(p, from, where, wanted);
    all.rows.insert(all.rows.end(), rows.begin(), rows.end());
    if (!rows.empty() && where.name != "cpu" && !of_files)
      limits.push_back({&limit_of_job(of_files), where.devices.back()});
  }
  if (of_files && !all.rows.empty()) limits.push_back({&limit_of_job(of_files), backend::cpu::make_device("cpu", {})});
  all.rows.insert(all.rows.end(), limits.begin(), limits.end());
  return all;
}

void add_groups(std::vector<group>& plan, const registry::problem& p, const experiment* from,
                const std::vector<place>& places, const request& wanted) {
  if (is_whole_job(wanted.what)) {
    if (group all = jobs_of(p, from, places, wanted); !all.rows.empty()) plan.push_back(std::move(all));
    return;
  }
  for (const place& where : places) {
    std::vector<row> rows = rows_of(p, from, where, wanted);
    if (rows.empty()) continue;
    const auto& widest = where.all.back();  // the limits of all cores, not those of one
    for (const variant* limit : limits_of(p, widest->info().backend)) rows.push_back({limit, widest});
    plan.push_back({p, where.name, std::move(rows), from, wanted.data});
  }
}

/// Adds the rank counts that the document ran. Under mpirun the ranks are the processes that it started; otherwise they
/// are groups within this process.
device_list with_ranks(const asked_experiment& asked, device_list devices) {
  const experiment& from = *asked.from;
  if (from.ranks.empty() || figures_at(from, asked.problem.shape).empty()) return devices;
  const std::string member(from.rank_device);
  if (backend::group::is_mpi_process()) return {backend::find_device("mpi:" + member, {})};
  for (const unsigned count : from.ranks)
    devices.push_back(backend::find_device(std::to_string(count) + "*" + member, {}));
  return devices;
}

std::vector<group> plan_of_documents(const std::vector<const registry::algorithm*>& selected, const request& wanted) {
  std::vector<group> plan;
  for (const asked_experiment& asked : experiments_of(selected, wanted)) {
    const device_list devices = wanted.names_devices ? wanted.devices : with_ranks(asked, wanted.devices);
    add_groups(plan, asked.problem, asked.from, places_of(devices), wanted);
  }
  return plan;
}

bool takes(const variant& v, dtype type) { return std::find(v.types.begin(), v.types.end(), type) != v.types.end(); }

std::string why_left_out(const registry::problem& p, const variant& v, const std::vector<place>& places) {
  if (!takes(v, p.type)) return "it has no " + std::string(name_of(p.type));
  const auto found = std::find_if(places.begin(), places.end(), [&](const place& where) {
    return where.all.front()->info().backend == v.device_backend();
  });
  if (found == places.end()) return "no " + std::string(v.device_backend()) + " device was found or asked for";
  const std::string why = registry::unsupported_reason(v, p, *found->all.back(), registry::default_tuning(v.tuning));
  return why.empty() ? "the document's experiment has no place for it" : why;
}

}  // namespace

std::vector<group> make_plan(const request& wanted) {
  refuse_unmatched(wanted);
  const std::vector<const registry::algorithm*> selected = selected_algorithms(wanted);
  refuse_foreign(selected, wanted);
  if (wanted.base.of_documents && wanted.data)
    throw error(errc::invalid_argument, "the documents' experiments have their own data; leave out --data");
  if (wanted.base.of_documents) return plan_of_documents(selected, wanted);
  const std::vector<place> places = places_of(wanted.devices);
  std::vector<group> plan;
  std::string refused;
  for (const registry::algorithm* a : selected) {
    const asked_problems asked = problems_of(*a, wanted);
    if (refused.empty()) refused = asked.refused;
    for (const registry::problem& p : asked.all) add_groups(plan, p, nullptr, places, wanted);
  }
  if (plan.empty() && !refused.empty()) throw error(errc::invalid_argument, refused);
  return plan;
}

std::vector<std::pair<std::string, std::string>> left_out(std::span<const group> plan, const request& wanted) {
  std::vector<std::pair<std::string, std::string>> missing;
  std::set<std::string> told;
  for (const group& g : plan)
    for (const row& r : g.rows) told.insert(r.id());
  const std::vector<place> places = places_of(wanted.devices);
  for (const bool is_of_its_types : {true, false})  // a type that it lacks is the reason only if all groups are of such
    for (const group& g : plan)
      for (const variant* v : candidates(*g.problem.what))
        if (is_wanted(*v, wanted) && (takes(*v, g.problem.type) || !is_of_its_types) && told.insert(v->id()).second)
          missing.emplace_back(v->id(), why_left_out(g.problem, *v, places));
  return missing;
}

}  // namespace tilewise::lab
