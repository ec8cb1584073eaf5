// SPDX-License-Identifier: Apache-2.0
// A kernel file is compiled once for each x86-64 level of the build; its functions are in a namespace named after the
// level. With these macros other files declare the functions and choose one. TILEWISE_V2, _V3 and _V4 name the level
// itself or, if the build does not have it, the level that replaces it (cmake/numerics.cmake).
#pragma once

#include <cstdint>

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

/// The function or table for `level`, which must be one of instruction_sets(): TILEWISE_AT_LEVEL(level, kernels<T>)().
/// Those of other levels may use instructions that this processor lacks.
#define TILEWISE_AT_LEVEL(level, ...)                                                            \
  (::tilewise::backend::cpu::at_level(level, TILEWISE_V2::__VA_ARGS__, TILEWISE_V3::__VA_ARGS__, \
                                      TILEWISE_V4::__VA_ARGS__))

namespace tilewise::backend::cpu {

/// The x86-64 levels that kernels are built for. All give the same bits.
enum class instruction_set : std::uint8_t { v2, v3, v4 };

/// The best level that this build and this machine support. Throws `unsupported` if there is none.
instruction_set best_instruction_set();

/// Whether this processor reads memory faster with software prefetching. Zen 5's hardware prefetching stops at every
/// page: reading 64 MB on one core went from 24 to 37 GB/s with prefetching 8 KB ahead, and to 33 with 2 KB. On Zen 4,
/// two cores became slower by a tenth to a third.
bool gains_by_fetching();

template <class Kernel>
constexpr Kernel& at_level(instruction_set level, Kernel& of_v2, Kernel& of_v3, Kernel& of_v4) {
  return level == instruction_set::v4 ? of_v4 : level == instruction_set::v3 ? of_v3 : of_v2;
}

}  // namespace tilewise::backend::cpu
