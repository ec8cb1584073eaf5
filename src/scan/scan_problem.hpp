// How a scan is written as a registry::problem: settings op, kind and init, number init.
#pragma once

#include "registry/algorithm.hpp"

namespace tilewise::impl::scan {

inline constexpr std::array<std::string_view, 4> op_words{"sum", "product", "min", "max"};
inline constexpr std::array<std::string_view, 2> kind_words{"inclusive", "exclusive"};
inline constexpr std::array<std::string_view, 2> init_words{"none", "given"};

const registry::algorithm& scan_algorithm();

inline op operation_of(const registry::problem& p) { return static_cast<op>(p.setting[0]); }
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
