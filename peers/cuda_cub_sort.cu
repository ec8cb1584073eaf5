// CUB's sorts, of the toolkit that this build uses.
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "peers/cuda_peers.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include <array>
#include <functional>

namespace tilewise::peers {

namespace {

namespace cuda = backend::cuda;

/// Fewer types than ours, since CUB compiles slowly; signed integers cost what unsigned ones do.
constexpr std::array types{dtype::f32, dtype::f64, dtype::u32, dtype::u64};

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  for (std::size_t i = 0; i < p.what->settings.size(); ++i)
    if (p.setting[i] != 0) return "as a peer it is measured on ascending keys alone only";
  return "";
}

template <class F>
void with_listed_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::u64: return f(std::uint64_t{});
    default: return f(std::uint32_t{});
  }
}

/// sort(workspace, bytes, in, out) is called twice: at first it only asks for the size of the workspace.
template <class Sort>
void run(const registry::problem& p, const registry::memories& where, cuda::queue& q, Sort sort) {
  with_listed_type(p.type, [&]<class T>(T) {
    std::size_t bytes = 0;
    TW_CUDA(sort(nullptr, bytes, where.in[0].as<const T>(), where.out[0].as<T>()));
    const backend::buffer workspace(q, bytes);
    TW_CUDA(sort(workspace.as<void>(), bytes, where.in[0].as<const T>(), where.out[0].as<T>()));
  });
}

void run_radix(const registry::problem& p, const registry::memories& where, const registry::tuning&,
               backend::queue& on) {
  cuda::queue& q = cuda::enter(on);
  run(p, where, q, [&]<class T>(void* workspace, std::size_t& bytes, const T* in, T* out) {
    return cub::DeviceRadixSort::SortKeys(workspace, bytes, in, out, p.n(), 0, 8 * sizeof(T), q.stream());
  });
}

void run_merge(const registry::problem& p, const registry::memories& where, const registry::tuning&,
               backend::queue& on) {
  cuda::queue& q = cuda::enter(on);
  run(p, where, q, [&]<class T>(void* workspace, std::size_t& bytes, const T* in, T* out) {
    return cub::DeviceMergeSort::SortKeysCopy(workspace, bytes, in, out, p.n(), std::less<T>{}, q.stream());
  });
}

/// Equal keys differ in the signs of zeros at most.
registry::variant cub(std::string_view name, std::string_view source, decltype(registry::variant::run) run) {
  return {.algorithm = "sort",
          .backend = "cuda",
          .name = name,
          .order = registry::claim::own,
          .types = types,
          .source = source,
          .unsupported = unsupported,
          .run = run,
          .bound = 0,
          .peer = true};
}

}  // namespace

std::vector<registry::variant> cub_sort_variants() {
  return {cub("cub_radix", "CUB's DeviceRadixSort::SortKeys", run_radix),
          cub("cub_merge", "CUB's DeviceMergeSort::SortKeysCopy", run_merge)};
}

}  // namespace tilewise::peers
