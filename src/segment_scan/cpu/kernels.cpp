// SPDX-License-Identifier: Apache-2.0
// What:   short segments with vectors; compiled once for each x86-64 level.
// Order:  backend/cpu/blocks.hpp.
// Shape:  one segment after another on one thread. One of less than a vector is one descent, whatever its length, so
//         that no branch depends on it; one of few vectors as many; a longer one is a short scan.
// Limits: touches nothing outside the segments; y may be x.
// Twins:  serial.cpp, scan/cpu/kernels.cpp.
#include "segment_scan/cpu/kernels.hpp"

#include "backend/cpu/blocks.hpp"
#include "base/instantiate.hpp"
#include "reduce/cpu/kernels.hpp"
#include "scan/cpu/kernels.hpp"

namespace tilewise::impl::segment_scan::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

/// Scans fewer than four vectors: the prefix behind up to three blocks is a plain fold from the left.
template <class T, class Op, bool Inclusive>
[[gnu::always_inline]] inline void scan_few_vectors(const T* x, T* y, std::uint64_t n, level::vector<T> first) {
  using blocks = level::blocks<T, Op>;
  level::vector<T> before = level::broadcast(Op::template identity<T>());
  const auto result = [&](level::vector<T> elements, level::vector<T> behind) {
    level::vector<T> prefix = blocks::prefixes(elements, before);
    if constexpr (Inclusive) prefix = level::shift_down<T>(prefix, behind);
    return level::canonical<T>(level::apply<Op, T>(first, prefix));
  };
  for (; n >= level::lanes<T>; n -= level::lanes<T>, x += level::lanes<T>, y += level::lanes<T>) {
    const level::vector<T> elements = level::load(x);
    const level::vector<T> behind = blocks::join(before, blocks::template complete<1>(elements));
    level::store<T>(y, result(elements, behind));
    before = behind;
  }
  level::store_first<T>(y, result(level::load_first(x, static_cast<unsigned>(n)), before), static_cast<unsigned>(n));
}

template <class T, class Op, bool Inclusive>
std::uint64_t scan_segments(const segments<T>& of, std::uint64_t begin, std::uint64_t end) {
  const auto small = scan::TILEWISE_LEVEL::kernels<T>(Op::id).small;
  const level::vector<T> first = level::broadcast(of.first);
  for (std::uint64_t s = begin; s < end; ++s) {
    const std::int64_t at = of.offsets[s];
    const auto n = static_cast<std::uint64_t>(of.offsets[s + 1] - at);
    T* const y = of.y + (at - of.y_begin);
    if (n < 4 * level::lanes<T>)
      scan_few_vectors<T, Op, Inclusive>(of.x + at, y, n, first);
    else if (n <= reduce::small_limit)
      small(of.x + at, y, n, &of.first, Inclusive);
    else
      return s;
  }
  return end;
}

template <class T, class Op>
std::uint64_t short_segments(const segments<T>& of, std::uint64_t begin, std::uint64_t end) {
  return (of.inclusive ? scan_segments<T, Op, true> : scan_segments<T, Op, false>)(of, begin, end);
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

}  // namespace tilewise::impl::segment_scan::TILEWISE_LEVEL
