// SPDX-License-Identifier: Apache-2.0
// CUB, NVIDIA's own algorithms, from the toolkit of this build.
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "peers/cuda/cub_calls.hpp"
#include "peers/variants.hpp"
#include "sort/problem.hpp"

#include <algorithm>
#include <array>

namespace tilewise::peers {

namespace {

namespace cuda = backend::cuda;

/// Fewer types than ours, since CUB compiles slowly. The other types have the same width as one of these.
constexpr std::array sum_types{dtype::f32, dtype::f64, dtype::i32, dtype::u32};
/// For these sorts, signed integers cost the same as unsigned ones.
constexpr std::array sort_types{dtype::f32, dtype::f64, dtype::u32, dtype::u64};
constexpr std::array pair_types{dtype::u32};

std::string other_than_pairs(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (impl::sort::is_descending(p) || impl::sort::payload_of(p) != impl::sort::payload::values32)
    return "as a peer it is measured only on ascending keys with values of 4 bytes";
  return "";
}

/// Each of CUB's calls is made twice: the first returns the size of the workspace, which then comes from the pool.
template <cudaError_t (*Algorithm)(cub_call&)>
void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  cuda::queue& q = cuda::enter(on);
  cub_call call{p.type, where.in[0].as<const void>(), where.out[0].as<void>(), p.n(), q.stream()};
  call.values_in = where.in[1].as<const void>();
  call.segments = p.shape[1];
  call.values_out = where.out[1].as<void>();
  call.offsets_out = where.out[2].as<std::int64_t>();
  TW_CUDA(Algorithm(call));
  const backend::buffer workspace(q, call.bytes);
  call.workspace = workspace.as<void>();
  TW_CUDA(Algorithm(call));
}

/// CUB leaves out the last offset.
void run_runs(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
              backend::queue& on) {
  run<cub_runs>(p, where, t, on);
  const auto end = static_cast<std::int64_t>(p.n());
  on.upload(where.out[2].at(p.shape[1] * sizeof end, sizeof end), &end, sizeof end);
}

/// CUB knows no room: it writes all runs.
std::string other_than_measured(const registry::problem& p, const backend::device&, const registry::tuning&) {
  const auto is_at = [&](std::span<const registry::extents> shapes) {
    return std::find(shapes.begin(), shapes.end(), p.shape) != shapes.end();
  };
  if (p.shape[1] != 0 && !is_at(p.what->edge_shapes)) return "";
  return "as a peer it is measured only where there are as many runs as there is room for";
}

template <cudaError_t (*Algorithm)(cub_call&)>
registry::variant cub_sum(std::string_view algorithm, std::string_view source) {
  return {.algorithm = algorithm,
          .backend = "cuda",
          .name = "cub",
          .order = registry::claim::own,
          .types = sum_types,
          .source = source,
          .unsupported = plain_sums_only,
          .run = run<Algorithm>,
          .bound = other_order_bound,
          .peer = true};
}

/// The results may differ from ours only in the signs of zeros among equal keys.
template <cudaError_t (*Algorithm)(cub_call&)>
registry::variant cub_sort(std::string_view name, std::string_view source, std::span<const dtype> types = sort_types,
                           decltype(plain_sorts_only)* unsupported = plain_sorts_only,
                           std::string_view algorithm = "sort") {
  return {.algorithm = algorithm,
          .backend = "cuda",
          .name = name,
          .order = registry::claim::own,
          .types = types,
          .source = source,
          .unsupported = unsupported,
          .run = run<Algorithm>,
          .bound = 0,
          .peer = true};
}

}  // namespace

std::vector<registry::variant> cub_variants() {
  return {cub_sum<cub_reduce>("reduce", "CUB's DeviceReduce::Sum"),
          cub_sum<cub_scan>("scan", "CUB's DeviceScan::InclusiveSum"),
          cub_sum<cub_segment_reduce>("segment_reduce", "CUB's DeviceSegmentedReduce::Sum"),
          {.algorithm = "runs",
           .backend = "cuda",
           .name = "cub",
           .types = all_dtypes,
           .source = "CUB's DeviceSelect::UniqueByKey, with counted places",
           .unsupported = other_than_measured,
           .run = run_runs,
           .peer = true},
          cub_sort<cub_radix_sort>("cub_radix", "CUB's DeviceRadixSort::SortKeys"),
          cub_sort<cub_segment_sort>("cub", "CUB's DeviceSegmentedSort::SortKeys", sort_types, plain_sorts_only,
                                     "segment_sort"),
          cub_sort<cub_merge_sort>("cub_merge", "CUB's DeviceMergeSort::SortKeysCopy"),
          cub_sort<cub_radix_pairs>("cub_pairs", "CUB's DeviceRadixSort::SortPairs", pair_types, other_than_pairs)};
}

}  // namespace tilewise::peers
