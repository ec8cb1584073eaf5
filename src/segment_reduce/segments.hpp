// SPDX-License-Identifier: Apache-2.0
// What kernels get; it includes nothing, since they are compiled for several x86-64 levels.
#pragma once

#include <cstdint>

namespace tilewise::impl::segment_reduce {

/// The memory of segments: segment s is x[offsets[s] .. offsets[s + 1]), its result out[s].
template <class T>
struct segments {
  const T* x;
  const std::int64_t* offsets;
  T* out;
  T first;  // every result begins with it
  T empty;  // the result of an empty segment
};

}  // namespace tilewise::impl::segment_reduce
