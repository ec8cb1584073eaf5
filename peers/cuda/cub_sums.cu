// SPDX-License-Identifier: Apache-2.0
// CUB's sums, from the toolkit of this build.
#include "peers/cuda/cub_calls.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>

namespace tilewise::peers {

namespace {

template <class F>
cudaError_t with_listed_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    default: return f(std::uint32_t{});  // i32 too: sums that wrap have the same bits
  }
}

}  // namespace

cudaError_t cub_reduce(cub_call& call) {
  return with_listed_type(call.type, [&]<class T>(T) {
    return cub::DeviceReduce::Sum(call.workspace, call.bytes, static_cast<const T*>(call.in), static_cast<T*>(call.out),
                                  call.n, call.stream);
  });
}

cudaError_t cub_scan(cub_call& call) {
  return with_listed_type(call.type, [&]<class T>(T) {
    return cub::DeviceScan::InclusiveSum(call.workspace, call.bytes, static_cast<const T*>(call.in),
                                         static_cast<T*>(call.out), call.n, call.stream);
  });
}

cudaError_t cub_segment_reduce(cub_call& call) {
  return with_listed_type(call.type, [&]<class T>(T) {
    const auto* const offsets = static_cast<const std::int64_t*>(call.values_in);
    return cub::DeviceSegmentedReduce::Sum(call.workspace, call.bytes, static_cast<const T*>(call.in),
                                           static_cast<T*>(call.out), static_cast<std::int64_t>(call.segments), offsets,
                                           offsets + 1, call.stream);
  });
}

cudaError_t cub_runs(cub_call& call) {
  const auto of = [&]<class K>(K) {
    return cub::DeviceSelect::UniqueByKey(call.workspace, call.bytes, static_cast<const K*>(call.in),
                                          thrust::counting_iterator<std::int64_t>(0), static_cast<K*>(call.values_out),
                                          call.offsets_out, static_cast<std::int64_t*>(call.out),
                                          static_cast<std::int64_t>(call.n), call.stream);
  };
  return size_of(call.type) == 4 ? of(std::uint32_t{}) : of(std::uint64_t{});
}

}  // namespace tilewise::peers
