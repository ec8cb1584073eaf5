// SPDX-License-Identifier: Apache-2.0
// What:   short segments with vectors; compiled once for each x86-64 level.
// Order:  backend/cpu/blocks.hpp.
// Shape:  one segment after another on one thread, without a branch that depends on its length below one vector: of
//         segments of 8 elements on average such branches took twice as long. Neighbours of one length are rows of a
//         matrix, several at once.
// Limits: reads nothing outside the segments.
// Twins:  serial.cpp, reduce_axis/cpu/kernels.cpp.
#include "segment_reduce/cpu/kernels.hpp"

#include "backend/cpu/blocks.hpp"
#include "base/instantiate.hpp"
#include "reduce/cpu/kernels.hpp"
#include "reduce_axis/cpu/kernels.hpp"

namespace tilewise::impl::segment_reduce::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
[[gnu::always_inline]] inline std::uint64_t length_of(const segments<T>& of, std::uint64_t s, std::uint64_t count = 1) {
  return static_cast<std::uint64_t>(of.offsets[s + count] - of.offsets[s]);
}

/// Whether n elements each, in as many segments from s on as a vector has lanes, are probable. It costs one comparison.
template <class T>
[[gnu::always_inline]] inline bool may_be_rows(const segments<T>& of, std::uint64_t s, std::uint64_t n,
                                               std::uint64_t end) {
  return end - s >= level::lanes<T> && length_of(of, s, level::lanes<T>) == n * level::lanes<T>;
}

/// Segments of n elements each from s on, as rows of a matrix. Returns how many were reduced: as fill whole vectors.
template <class T, class Op>
std::uint64_t reduce_rows(const segments<T>& of, std::uint64_t s, std::uint64_t n, std::uint64_t end) {
  constexpr std::uint64_t most = 4096;  // so that results are still in the first-level cache when they are finished
  const reduce_axis::cpu_kernels<T>& across = reduce_axis::TILEWISE_LEVEL::kernels<T>(Op::id);
  if (n == 0 || n >= across.short_row) return 0;
  std::uint64_t equal = 1;
  while (equal < most && s + equal < end && length_of(of, s + equal) == n) ++equal;
  const std::uint64_t done = across.rows(of.x + of.offsets[s], n, equal, n, of.out + s);
  for (std::uint64_t i = s; i < s + done; ++i) of.out[i] = order::canonical(Op::template apply<T>(of.first, of.out[i]));
  return done;
}

template <class T, class Op>
std::uint64_t short_segments(const segments<T>& of, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t s = begin; s < end;) {
    const std::uint64_t n = length_of(of, s);
    if (n > reduce::small_limit) return s;
    if (may_be_rows(of, s, n, end)) {
      const std::uint64_t done = reduce_rows<T, Op>(of, s, n, end);
      s += done;
      if (done != 0) continue;
    }
    const T prefix = level::blocks<T, Op>::prefix_of_few(of.x + of.offsets[s], n)[0];
    of.out[s] = n == 0 ? of.empty : order::canonical(Op::template apply<T>(of.first, prefix));
    ++s;
  }
  return end;
}

template <class T, class Op>
constexpr cpu_kernels<T> kernels_of{short_segments<T, Op>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(op operation) {
  return order::with_operator(operation, []<class Op>(Op) -> const cpu_kernels<T>& { return kernels_of<T, Op>; });
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::segment_reduce::TILEWISE_LEVEL
