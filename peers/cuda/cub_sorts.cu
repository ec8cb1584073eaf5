// SPDX-License-Identifier: Apache-2.0
// CUB's sorts, from the toolkit of this build.
#include "peers/cuda/cub_calls.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <functional>

namespace tilewise::peers {

namespace {

template <class F>
cudaError_t with_listed_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::u64: return f(std::uint64_t{});
    default: return f(std::uint32_t{});
  }
}

}  // namespace

cudaError_t cub_radix_sort(cub_call& call) {
  return with_listed_type(call.type, [&]<class T>(T) {
    return cub::DeviceRadixSort::SortKeys(call.workspace, call.bytes, static_cast<const T*>(call.in),
                                          static_cast<T*>(call.out), call.n, 0, 8 * sizeof(T), call.stream);
  });
}

cudaError_t cub_radix_pairs(cub_call& call) {
  using word = std::uint32_t;
  return cub::DeviceRadixSort::SortPairs(call.workspace, call.bytes, static_cast<const word*>(call.in),
                                         static_cast<word*>(call.out), static_cast<const word*>(call.values_in),
                                         static_cast<word*>(call.values_out), call.n, 0, 32, call.stream);
}

cudaError_t cub_merge_sort(cub_call& call) {
  return with_listed_type(call.type, [&]<class T>(T) {
    return cub::DeviceMergeSort::SortKeysCopy(call.workspace, call.bytes, static_cast<const T*>(call.in),
                                              static_cast<T*>(call.out), call.n, std::less<T>{}, call.stream);
  });
}

cudaError_t cub_segment_sort(cub_call& call) {
  return with_listed_type(call.type, [&]<class T>(T) {
    const auto* const offsets = static_cast<const std::int64_t*>(call.values_in);
    return cub::DeviceSegmentedSort::SortKeys(
        call.workspace, call.bytes, static_cast<const T*>(call.in), static_cast<T*>(call.out),
        static_cast<std::int64_t>(call.n), static_cast<std::int64_t>(call.segments), offsets, offsets + 1, call.stream);
  });
}

}  // namespace tilewise::peers
