// SPDX-License-Identifier: Apache-2.0
// Whole-number division, rounded up. For device code too: constexpr functions run on both sides.
#pragma once

#include <type_traits>

namespace tilewise {

/// How many parts of `size` it takes to hold `count`; the last may be smaller. Two kernels write it out, since with the
/// call nvcc arranges their code differently from what was measured.
template <class Count, class Size>
constexpr std::common_type_t<Count, Size> ceil_div(Count count, Size size) {
  return (count + size - 1) / size;
}

}  // namespace tilewise
