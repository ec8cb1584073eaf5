// What:   block values and prefixes of one tile with vectors; compiled once for each x86-64 level.
// Order:  neighbours add by shuffles, so that W vectors become one of W block values, and again (cpu_blocks.hpp).
// Shape:  one tile on one thread; for W lanes 3 instructions a vector and level, the levels shrink by W.
// Limits: reads nothing outside [in, in + n).
// Twins:  reduce_serial.cpp; the pass over a tile of scan_cpu_kernels.cpp.
#include "reduce/reduce_cpu_kernels.hpp"

#include "backend/cpu/cpu_blocks.hpp"
#include "backend/instantiate.hpp"

namespace tilewise::impl::reduce::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T, class Op>
T small(const T* in, std::uint64_t n) {
  using blocks = level::blocks<T, Op>;
  constexpr T identity = Op::template identity<T>();
  if (n == level::lanes<T>) return blocks::template values<1>(in)[0];
  T scratch[small_scratch];
  blocks::upsweep(in, n, scratch);
  return blocks::fold(in, n, scratch, identity);
}

template <class T, class Op>
constexpr cpu_kernels<T> kernels_of{level::blocks<T, Op>::scratch_elements, level::blocks<T, Op>::upsweep,
                                    level::blocks<T, Op>::fold, small<T, Op>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(op operation) {
  static constexpr const cpu_kernels<T>* all[] = {&kernels_of<T, order::sum>, &kernels_of<T, order::product>,
                                                  &kernels_of<T, order::min>, &kernels_of<T, order::max>};
  return *all[static_cast<std::size_t>(operation)];
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::reduce::TILEWISE_LEVEL
