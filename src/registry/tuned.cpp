// SPDX-License-Identifier: Apache-2.0
#include "registry/tuned.hpp"

#include "backend/backend.hpp"
#include "backend/identity.hpp"
#include "base/lasting.hpp"
#include "base/printable.hpp"
#include "registry/tuned_file.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::registry {

namespace {

const std::vector<tuned>& applied_tunings() {
  static const std::vector<tuned>& all = base::lasting([] {
    std::vector<tuned> applied = read_tunings().all;
    std::erase_if(applied, [](const tuned& t) { return !t.is_applied || t.is_default(); });
    return applied;
  });
  return all;
}

}  // namespace

bool tuned::holds_for(const registry::variant& v, const registry::problem& p) const {
  return by == &v && problem.type == p.type && problem.setting == p.setting &&
         size_class(problem.shape) == size_class(p.shape);
}

extents size_class(const extents& shape) {
  extents sizes = shape;
  for (unsigned i = 0; i < shape.rank; ++i) sizes.size[i] = static_cast<std::uint64_t>(std::bit_width(shape[i])) / 2;
  return sizes;
}

std::string key_of_device(const device_info& info) {
  return base::without_controls(info.backend + ": " + backend::identity_of(info), "");
}

const tuned* find_tuned(std::span<const tuned> among, const variant& v, const problem& p, const device_info& on) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const tuned& t) {
    return t.holds_for(v, p) && t.device == key_of_device(on);  // the cheaper question first
  });
  return found == among.end() ? nullptr : &*found;
}

starting_tuning tuning_to_start_with(const variant& v, const problem& p, const backend::device& on) {
  const tuned* applied = nullptr;
  if (!v.tuning.empty() && !applied_tunings().empty()) applied = find_tuned(applied_tunings(), v, p, on.info());
  if (applied == nullptr || !v.unsupported(p, on, applied->best).empty()) return {default_tuning(v.tuning)};
  return {applied->best, applied};
}

}  // namespace tilewise::registry
