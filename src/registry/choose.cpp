// SPDX-License-Identifier: Apache-2.0
#include "registry/choose.hpp"

#include "base/nearest.hpp"

#include <algorithm>
#include <set>

namespace tilewise::registry {

std::string unsupported_reason(const variant& v, const problem& p, const backend::device& on, const tuning& t) {
  if (v.device_backend() != on.info().backend)
    return "it runs on " + std::string(v.device_backend()) + ", not on " + on.info().name;
  if (std::find(v.types.begin(), v.types.end(), p.type) == v.types.end())
    return "it does not take " + std::string(name_of(p.type));
  if (v.order == claim::tilewise && p.type == dtype::f64 && !on.info().fp64)
    return on.info().name + " has no double precision";
  if (v.order == claim::tilewise && p.type == dtype::f32 && !on.info().denormals)
    return on.info().name + " flushes denormals, which breaks the order for f32";
  return v.unsupported(p, on, t);
}

namespace {

/// With `why`, and what else decides how it runs.
choice chosen(const variant& v, const starting_tuning& start, std::string why) {
  if (start.applied != nullptr) why += ", by the tuning that was applied";
  return {&v, start.values, std::move(why), start.applied};
}

/// What was asked for comes before what was applied.
starting_tuning tuning_for(const variant& v, const problem& p, const backend::device& on, const preferences& wanted) {
  if (wanted.tuning.empty()) return tuning_to_start_with(v, p, on);
  return {parse_tuning(wanted.tuning, v.tuning)};
}

choice forced(const problem& p, const backend::device& on, const preferences& wanted) {
  const std::vector<const variant*> all = variants_of(*p.what);
  const variant* found = nullptr;
  for (const variant* v : all)  // if several backends have the name, the device's own wins
    if (v->is_called(wanted.variant) && (found == nullptr || v->device_backend() == on.info().backend)) found = v;
  if (found == nullptr)
    throw error(errc::invalid_argument, std::string(p.what->name) + " has no variant '" + std::string(wanted.variant) +
                                            "';" + nearest_variant(wanted.variant, all));
  const starting_tuning start = tuning_for(*found, p, on, wanted);
  if (const std::string reason = unsupported_reason(*found, p, on, start.values); !reason.empty())
    throw error(errc::unsupported,
                found->id() + " cannot compute " + to_string(p) + " on " + on.info().name + ": " + reason);
  return chosen(*found, start, "asked for");
}

/// "; polymul runs on cpu, opencl", without the backend that was tried.
std::string elsewhere(const algorithm& what, std::string_view tried) {
  std::set<std::string_view> backends;
  for (const variant* v : variants_of(what))
    if (!v->peer && v->device_backend() != tried) backends.insert(v->device_backend());
  std::string text;
  for (std::string_view backend : backends)
    text += (text.empty() ? "; " + std::string(what.name) + " runs on " : ", ") + std::string(backend);
  return text;
}

}  // namespace

choice choose(const problem& p, const backend::device& on, const preferences& wanted) {
  if (!wanted.variant.empty()) return forced(p, on, wanted);
  std::string passed_over;
  for (const variant* v : variants_of(*p.what)) {
    if (v->peer || v->device_backend() != on.info().backend) continue;
    if (v->order == claim::own && !wanted.fast) continue;
    const starting_tuning start = tuning_for(*v, p, on, wanted);
    std::string reason = unsupported_reason(*v, p, on, start.values);
    if (reason.empty()) reason = v->yields(p, on);
    if (reason.empty())
      return chosen(*v, start, passed_over.empty() ? "first choice on " + on.info().backend : "since " + passed_over);
    passed_over += (passed_over.empty() ? "" : "; ") + v->id() + ": " + reason;
  }
  throw error(errc::unsupported, "nothing computes " + to_string(p) + " on " + on.info().name +
                                     (passed_over.empty() ? "" : ": " + passed_over) +
                                     elsewhere(*p.what, on.info().backend));
}

}  // namespace tilewise::registry
