// How a reduction is written as a registry::problem: settings op and init, number init.
#pragma once

#include "registry/algorithm.hpp"

namespace tilewise::impl::reduce {

inline constexpr std::array<std::string_view, 4> op_words{"sum", "product", "min", "max"};
inline constexpr std::array<std::string_view, 2> init_words{"none", "given"};

const registry::algorithm& reduce_algorithm();

inline op operation_of(const registry::problem& p) { return static_cast<op>(p.setting[0]); }
inline bool has_init(const registry::problem& p) { return p.setting[1] == 1; }

template <class T>
T init_of(const registry::problem& p) {
  return p.number[0].as<T>();
}

/// The result, before it is made canonical, from prefix = P(n): init + P(n); of nothing the value that the operator has
/// for that.
template <class T, class Op>
T result_of(const registry::problem& p, T prefix) {
  if (p.n() == 0) return has_init(p) ? init_of<T>(p) : T(Op::id == op::product ? 1 : 0);
  return has_init(p) ? Op::template apply<T>(init_of<T>(p), prefix) : prefix;
}

}  // namespace tilewise::impl::reduce
