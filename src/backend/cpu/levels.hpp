// SPDX-License-Identifier: Apache-2.0
// A kernel file is compiled once for each x86-64 level of the build, its functions in a namespace named after the
// level. This is how other files declare these functions and choose one. TILEWISE_V2, _V3 and _V4 are the levels
// themselves, or one that is built in place of one that is not (cmake/numerics.cmake).
#pragma once

#include "backend/cpu/instruction_set.hpp"

/// Declares a function or a table for each level:
/// TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels();)
#define TILEWISE_AT_EACH_LEVEL(...) \
  namespace v2 {                    \
  __VA_ARGS__                       \
  }                                 \
  namespace v3 {                    \
  __VA_ARGS__                       \
  }                                 \
  namespace v4 {                    \
  __VA_ARGS__                       \
  }

/// The one for `level`, which is one of instruction_sets(): TILEWISE_AT_LEVEL(level, kernels<T>)(). The others are not
/// called: they may use instructions that this processor lacks.
#define TILEWISE_AT_LEVEL(level, ...)                                                            \
  (::tilewise::backend::cpu::at_level(level, TILEWISE_V2::__VA_ARGS__, TILEWISE_V3::__VA_ARGS__, \
                                      TILEWISE_V4::__VA_ARGS__))

namespace tilewise::backend::cpu {

template <class Kernel>
constexpr Kernel& at_level(instruction_set level, Kernel& of_v2, Kernel& of_v3, Kernel& of_v4) {
  return level == instruction_set::v4 ? of_v4 : level == instruction_set::v3 ? of_v3 : of_v2;
}

}  // namespace tilewise::backend::cpu
