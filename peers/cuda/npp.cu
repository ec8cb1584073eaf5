// SPDX-License-Identifier: Apache-2.0
// What:   convolve/cuda:npp: NPP's filter with a mask of the caller's, over the results that no border reaches.
// Order:  its own.
// Shape:  NPP turns the mask round, so one launch of ours turns it round before, in each call.
// Limits: border `valid`, since NPP continues images by their edge's value alone; no 3 x 3 and 5 x 5 masks of floats,
//         whose kernels repeat the last results' pixels instead of reading beyond; sizes and strides of less than 2^31.
// Twins:  cpu/convolve.cpp.
// NPP is loaded when it is first measured, like cuBLAS.
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "convolve/problem.hpp"
#include "peers/dynamic_library.hpp"
#include "peers/variants.hpp"

#include <limits>
#include <map>

#include <nppi_filtering_functions.h>

namespace tilewise::peers {

namespace {

namespace cuda = backend::cuda;
using impl::convolve::sizes;

struct npp {
  dynamic_library library{"libnppif.so.13", "libnppif.so.12"};
  decltype(&nppiFilter_32f_C1R_Ctx) filter_f32 = library.find("nppiFilter_32f_C1R_Ctx");
  decltype(&nppiFilter_64f_C1R_Ctx) filter_f64 = library.find("nppiFilter_64f_C1R_Ctx");
};

const npp& filters() {
  static const npp loaded;
  return loaded;
}

/// The facts that NPP needs about a device, queried once, with the queue's stream.
NppStreamContext context_on(cuda::queue& q) {
  static std::map<int, NppStreamContext> kept;
  int ordinal = 0;
  TW_CUDA(cudaGetDevice(&ordinal));
  auto found = kept.find(ordinal);
  if (found == kept.end()) {
    cudaDeviceProp device{};
    TW_CUDA(cudaGetDeviceProperties(&device, ordinal));
    NppStreamContext context{};
    context.nCudaDeviceId = ordinal;
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    found = kept.emplace(ordinal, context).first;
  }
  NppStreamContext context = found->second;
  context.hStream = q.stream();
  TW_CUDA(cudaStreamGetFlags(q.stream(), &context.nStreamFlags));
  return context;
}

constexpr unsigned group = 256;

template <class T>
__global__ void turn_round(const T* mask, T* turned, unsigned taps) {
  for (unsigned i = threadIdx.x; i < taps; i += group) turned[i] = mask[taps - 1 - i];
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (!filters().library.is_complete()) return "neither libnppif.so.13 nor libnppif.so.12 can be loaded";
  if (static_cast<border>(p.setting[0]) != border::valid) return "as a peer it is measured only with the border valid";
  const sizes s(p);
  if (const bool is_square = s.mask.rows == s.mask.columns;
      p.type == dtype::f32 && is_square && (s.mask.rows == 3 || s.mask.rows == 5))
    return "NPP's kernels for 3 x 3 and 5 x 5 floats read no more of the image than there are results";
  constexpr std::uint64_t most = std::numeric_limits<int>::max();
  if (s.image.rows > most || s.image.columns * size_of(p.type) > most) return "NPP counts in 32 bits";
  return "";
}

/// The anchor of NPP's mask in the image: its end, so that NPP reads from the result's position on.
NppiPoint last_of(const image_size& mask) {
  return {static_cast<int>(mask.columns) - 1, static_cast<int>(mask.rows) - 1};
}

NppiSize as_npp(const image_size& size) { return {static_cast<int>(size.columns), static_cast<int>(size.rows)}; }

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  cuda::queue& q = cuda::enter(on);
  const sizes s(p);
  const auto filter_by = [&]<class T>(T, auto filter) {
    const auto taps = static_cast<unsigned>(s.mask.rows * s.mask.columns);
    const backend::buffer turned(q, taps * sizeof(T));
    turn_round<<<1, group, 0, q.stream()>>>(where.in[1].as<const T>(), turned.as<T>(), taps);
    TW_CUDA(cudaGetLastError());
    const auto stride = [](const image_size& of) { return static_cast<int>(of.columns * sizeof(T)); };
    const NppStatus status =
        filter(where.in[0].as<const T>(), stride(s.image), where.out[0].as<T>(), stride(s.result), as_npp(s.result),
               turned.as<const T>(), as_npp(s.mask), last_of(s.mask), context_on(q));
    if (status != NPP_NO_ERROR)
      throw error(errc::unsupported, "nppiFilter of NPP failed with status " + std::to_string(status));
  };
  if (p.type == dtype::f32)
    filter_by(float{}, filters().filter_f32);
  else
    filter_by(double{}, filters().filter_f64);
}

}  // namespace

std::vector<registry::variant> npp_variants() {
  return {{.algorithm = "convolve",
           .backend = "cuda",
           .name = "npp",
           .order = registry::claim::own,
           .types = float_types,
           .source = "NPP's nppiFilter, which turns the mask round; turned round before, in each call",
           .unsupported = unsupported,
           .run = run,
           .bound = product_bound,
           .peer = true}};
}

}  // namespace tilewise::peers
