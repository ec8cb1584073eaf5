// SPDX-License-Identifier: Apache-2.0
#include "registry/choose.hpp"

#include "base/nearest.hpp"

#include <algorithm>
#include <set>

namespace tilewise::registry {

namespace {

bool takes(const variant& v, dtype type) { return std::find(v.types.begin(), v.types.end(), type) != v.types.end(); }

/// Why a variant that runs on this device and supports the type still cannot run; empty if it can.
std::string limit_met(const variant& v, const problem& p, const backend::device& on, const tuning& t) {
  if (v.order == claim::tilewise && p.type == dtype::f64 && !on.info().fp64)
    return on.info().name + " has no double precision";
  if (v.order == claim::tilewise && p.type == dtype::f32 && !on.info().denormals)
    return on.info().name + " flushes denormals, which breaks the order for f32";
  return v.unsupported(p, on, t);
}

}  // namespace

std::string unsupported_reason(const variant& v, const problem& p, const backend::device& on, const tuning& t) {
  if (v.device_backend() != on.info().backend)
    return "it runs on " + std::string(v.device_backend()) + ", not on " + on.info().name;
  if (!takes(v, p.type)) return "it does not take " + std::string(name_of(p.type));
  return limit_met(v, p, on, t);
}

namespace {

/// The caller's tuning has priority over an applied one.
starting_tuning tuning_for(const variant& v, const problem& p, const backend::device& on, const preferences& wanted) {
  if (wanted.tuning.empty()) return tuning_to_start_with(v, p, on);
  return {parse_tuning(wanted.tuning, v.tuning)};
}

choice forced(const problem& p, const backend::device& on, const preferences& wanted) {
  const std::vector<const variant*>& all = variants_of(*p.what);
  const variant* found = nullptr;
  for (const variant* v : all)  // if several backends have the name, the device's own backend wins
    if (v->is_called(wanted.variant) && (found == nullptr || v->device_backend() == on.info().backend)) found = v;
  if (found == nullptr)
    throw error(errc::invalid_argument, std::string(p.what->name) + " has no variant '" + std::string(wanted.variant) +
                                            "';" + nearest_variant(wanted.variant, all));
  const starting_tuning start = tuning_for(*found, p, on, wanted);
  if (const std::string reason = unsupported_reason(*found, p, on, start.values); !reason.empty())
    throw error(errc::unsupported,
                found->id() + " cannot compute " + to_string(p) + " on " + on.info().name + ": " + reason);
  return {found, start.values, {}, start.applied};
}

/// "; polymul runs on cpu, opencl", without the backend `tried`.
std::string elsewhere(const algorithm& what, std::string_view tried) {
  std::set<std::string_view> backends;
  for (const variant* v : variants_of(what))
    if (!v->peer && v->device_backend() != tried) backends.insert(v->device_backend());
  std::string text;
  for (std::string_view backend : backends)
    text += (text.empty() ? "; " + std::string(what.name) + " runs on " : ", ") + std::string(backend);
  return text;
}

/// Whether the variant is considered at all.
bool is_candidate(const variant& v, const backend::device& on, const preferences& wanted) {
  return !v.peer && v.device_backend() == on.info().backend && (v.order != claim::own || wanted.fast);
}

/// Why a candidate that supports the type is not chosen; empty if it is.
std::string objection(const variant& v, const problem& p, const backend::device& on, const tuning& t) {
  std::string reason = limit_met(v, p, on, t);
  return reason.empty() ? v.yields(p, on) : reason;
}

/// The candidates before `chosen`, each with the reason why it was not chosen.
std::string passed_over(const variant* chosen, const problem& p, const backend::device& on, const preferences& wanted) {
  std::string text;
  for (const variant* v : variants_of(*p.what)) {
    if (v == chosen) break;
    if (!is_candidate(*v, on, wanted)) continue;
    text += (text.empty() ? "" : "; ") + v->id() + ": " +
            (takes(*v, p.type) ? objection(*v, p, on, tuning_for(*v, p, on, wanted).values)
                               : unsupported_reason(*v, p, on, {}));
  }
  return text;
}

}  // namespace

choice choose_silently(const problem& p, const backend::device& on, const preferences& wanted) {
  if (!wanted.variant.empty()) return forced(p, on, wanted);
  for (const variant* v : variants_of(*p.what)) {
    if (!is_candidate(*v, on, wanted) || !takes(*v, p.type)) continue;
    const starting_tuning start = tuning_for(*v, p, on, wanted);
    if (objection(*v, p, on, start.values).empty()) return {v, start.values, {}, start.applied};
  }
  const std::string reasons = passed_over(nullptr, p, on, wanted);
  throw error(errc::unsupported, "nothing computes " + to_string(p) + " on " + on.info().name +
                                     (reasons.empty() ? "" : ": " + reasons) + elsewhere(*p.what, on.info().backend));
}

choice choose(const problem& p, const backend::device& on, const preferences& wanted) {
  choice made = choose_silently(p, on, wanted);
  if (!wanted.variant.empty()) {
    made.reason = "asked for";
  } else {
    const std::string others = passed_over(made.variant, p, on, wanted);
    made.reason = others.empty() ? "first choice on " + on.info().backend : "since " + others;
  }
  if (made.applied != nullptr) made.reason += ", by the tuning that was applied";
  return made;
}

}  // namespace tilewise::registry
