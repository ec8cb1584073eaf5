// How a scan is written as a registry::problem: settings op, kind and init, and the number init.
#pragma once

#include "registry/fold.hpp"

namespace tilewise::impl::scan {

inline constexpr std::array<std::string_view, 2> kind_words{"inclusive", "exclusive"};
const registry::algorithm& scan_algorithm();

using registry::fold::operation_of;
inline bool is_exclusive(const registry::problem& p) { return p.setting[1] == 1; }
inline bool has_init(const registry::problem& p) { return p.setting[2] == 1; }

/// An exclusive sum without an initial value starts from 0, an exclusive product from 1.
template <class T>
T init_of(const registry::problem& p) {
  return has_init(p) ? p.number[0].as<T>() : T(operation_of(p) == op::product ? 1 : 0);
}
/// Whether every output is init + prefix. Only the plain inclusive scan is not.
inline bool starts_from_init(const registry::problem& p) { return is_exclusive(p) || has_init(p); }

}  // namespace tilewise::impl::scan
