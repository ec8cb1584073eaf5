// SPDX-License-Identifier: Apache-2.0
#include "peers/peers.hpp"

#include "peers/variants.hpp"

#if TILEWISE_WITH_CUDA
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#endif

namespace tilewise::peers {

std::vector<registry::variant> peer_variants() {
  std::vector<registry::variant> all = std_variants();
  const auto append = [&](const std::vector<registry::variant>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(sort_variants());
#if TILEWISE_WITH_OPENMP
  append(convolve_variants());
  append(diffuse_variants());
#endif
#if TILEWISE_WITH_TBB
  append(tbb_variants());
#endif
#if TILEWISE_WITH_OPENBLAS
  append(openblas_variants());
#endif
#if TILEWISE_WITH_FLINT
  append(flint_variants());
#endif
#if TILEWISE_WITH_OPENCL
  append(diffuse_opencl_variants());
#endif
#if TILEWISE_WITH_CLBLAST
  append(clblast_variants());
#endif
#if TILEWISE_WITH_CUDA
  append(cub_variants());
  append(diffuse_cuda_variants());
#endif
#if TILEWISE_WITH_CUBLAS
  append(cublas_variants());
#endif
#if TILEWISE_WITH_CUFFT
  append(cufft_variants());
#endif
#if TILEWISE_WITH_NPP
  append(npp_variants());
#endif
  return all;
}

#if TILEWISE_WITH_CUDA
namespace {

/// Plain cudaMemcpy from and to pageable memory: the transfers of a program that does nothing to speed them up.
void copy(backend::queue& on, void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind) {
  backend::cuda::enter(on).finish();  // cudaMemcpy knows nothing of the queue's stream
  TW_CUDA(cudaMemcpy(to, from, bytes, kind));
}

void upload_pageable(backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes) {
  copy(on, to.as<void>(), from, bytes, cudaMemcpyHostToDevice);
}

void download_pageable(backend::queue& on, void* to, backend::memory from, std::uint64_t bytes) {
  copy(on, to, from.as<const void>(), bytes, cudaMemcpyDeviceToHost);
}

}  // namespace

std::vector<runtime_copies> copies_of_runtimes() { return {{"cuda", upload_pageable, download_pageable}}; }
#else
std::vector<runtime_copies> copies_of_runtimes() { return {}; }
#endif

}  // namespace tilewise::peers
