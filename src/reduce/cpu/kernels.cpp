// SPDX-License-Identifier: Apache-2.0
// What:   block values and prefixes of one tile with vectors; compiled once for each x86-64 level.
// Order:  shuffles combine neighbours, so that W vectors become one vector of W block values, level by level
//         (backend/cpu/blocks.hpp).
// Shape:  one tile on one thread; for W lanes 3 instructions per vector and level, and levels shrink by a factor of W.
// Limits: reads nothing outside [in, in + n).
// Twins:  serial.cpp; the pass over a tile in scan/cpu/kernels.cpp.
#include "reduce/cpu/kernels.hpp"

#include "backend/cpu/blocks.hpp"
#include "base/instantiate.hpp"

namespace tilewise::impl::reduce::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;

template <class T, class Op>
T small(const T* in, std::uint64_t n, const T* init) {
  vector<T> prefix = level::blocks<T, Op>::prefix_of_few(in, n);
  if (init != nullptr) prefix = level::apply<Op, T>(level::broadcast(*init), prefix);
  return level::canonical<T>(prefix)[0];
}

template <class T, class Op>
constexpr cpu_kernels<T> kernels_of{level::blocks<T, Op>::scratch_elements, level::blocks<T, Op>::upsweep,
                                    level::blocks<T, Op>::fold, small<T, Op>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(op operation) {
  return order::with_operator(operation, []<class Op>(Op) -> const cpu_kernels<T>& { return kernels_of<T, Op>; });
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::reduce::TILEWISE_LEVEL
