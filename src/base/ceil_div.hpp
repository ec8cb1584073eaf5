// SPDX-License-Identifier: Apache-2.0
// Whole-number division, rounded up. Also for device code, which may call constexpr functions.
#pragma once

#include <type_traits>

namespace tilewise {

/// count / size, rounded up. Two kernels do not call this but repeat the expression: with the call, nvcc generates
/// other code than what was measured.
template <class Count, class Size>
constexpr std::common_type_t<Count, Size> ceil_div(Count count, Size size) {
  return (count + size - 1) / size;
}

}  // namespace tilewise
