// CUB, the vendor's own algorithms, of the toolkit that this build uses.
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "peers/cpu_peers.hpp"
#include "peers/cuda_peers.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <array>

namespace tilewise::peers {

namespace {

namespace cuda = backend::cuda;

/// Fewer types than ours, since CUB compiles slowly; the others are as wide as one of these.
constexpr std::array types{dtype::f32, dtype::f64, dtype::i32, dtype::u32};

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return plain_sums_only(p);
}

template <class F>
void with_listed_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    default: return f(std::uint32_t{});  // i32 too: a sum that wraps has the same bits
  }
}

/// CUB's calls come in pairs: the first asks for the size of the workspace, which then comes from the pool.
template <class Call>
void with_workspace(cuda::queue& q, Call&& call) {
  std::size_t bytes = 0;
  TW_CUDA(call(nullptr, bytes));
  const backend::buffer workspace(q, bytes);
  TW_CUDA(call(workspace.as<void>(), bytes));
}

void run_reduce(const registry::problem& p, const registry::memories& where, const registry::tuning&,
                backend::queue& on) {
  cuda::queue& q = cuda::enter(on);
  with_listed_type(p.type, [&]<class T>(T) {
    with_workspace(q, [&](void* workspace, std::size_t& bytes) {
      return cub::DeviceReduce::Sum(workspace, bytes, where.in[0].as<const T>(), where.out[0].as<T>(), p.n(),
                                    q.stream());
    });
  });
}

void run_scan(const registry::problem& p, const registry::memories& where, const registry::tuning&,
              backend::queue& on) {
  cuda::queue& q = cuda::enter(on);
  with_listed_type(p.type, [&]<class T>(T) {
    with_workspace(q, [&](void* workspace, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(workspace, bytes, where.in[0].as<const T>(), where.out[0].as<T>(), p.n(),
                                           q.stream());
    });
  });
}

registry::variant cub(std::string_view algorithm, std::string_view source, decltype(registry::variant::run) run) {
  return {.algorithm = algorithm,
          .backend = "cuda",
          .name = "cub",
          .order = registry::claim::own,
          .types = types,
          .source = source,
          .unsupported = unsupported,
          .run = run,
          .bound = other_order_bound,
          .peer = true};
}

}  // namespace

std::vector<registry::variant> cub_variants() {
  return {cub("reduce", "CUB's DeviceReduce::Sum", run_reduce),
          cub("scan", "CUB's DeviceScan::InclusiveSum", run_scan)};
}

}  // namespace tilewise::peers
