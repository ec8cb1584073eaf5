// SPDX-License-Identifier: Apache-2.0
// Calls in the default floating-point mode. The bits of a result must not depend on what callers have made of theirs.
#pragma once

#include <tilewise/float_mode.hpp>

#include <emmintrin.h>

namespace tilewise::base {

/// Returns what `call` returns, computed in the default mode. Not inlined, for quickly_in_default_float_mode.
template <class Call>
[[gnu::noinline]] auto in_default_float_mode(const Call& call) {
  auto* body = +[](const Call& c) { return c(); };
  // Compilers move arithmetic past a change of the mode, but not out of a function that they cannot see.
  asm volatile("" : "+r"(body));
  const default_float_mode during;
  return body(call);
}

/// Whether this thread rounds to nearest and keeps denormals, by one addition that shows it: to read the register takes
/// 20 times as long on some processors. Unmasked exceptions do not show.
inline bool has_default_rounding() {
  // A denormal is kept; three quarters of a last place round up, but not where all is rounded down or to zero; a
  // quarter rounds down, but not where all is rounded up.
  alignas(16) static constexpr float a[4]{0x1p-140f, 1, 1, 0}, b[4]{0, 0x1.8p-24f, 0x1p-25f, 0};
  alignas(16) static constexpr float nearest[4]{0x1p-140f, 1 + 0x1p-23f, 1, 0};
  __m128 sum = _mm_load_ps(a);
  asm volatile("addps %1, %0" : "+x"(sum) : "m"(b));
  const __m128i same = _mm_cmpeq_epi32(_mm_castps_si128(sum), _mm_castps_si128(_mm_load_ps(nearest)));
  return _mm_movemask_epi8(same) == 0xffff;
}

/// The same as in_default_float_mode, for calls that take some nanoseconds themselves.
template <class Call>
auto quickly_in_default_float_mode(const Call& call) {
  if (has_default_rounding()) [[likely]]
    return call();
  return in_default_float_mode(call);
}

}  // namespace tilewise::base
