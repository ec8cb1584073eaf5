// SPDX-License-Identifier: Apache-2.0
#include "peers/peers.hpp"

#include "peers/cpu/variants.hpp"
#include "peers/cuda/variants.hpp"
#include "peers/opencl/variants.hpp"

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
  append(diffuse_tbb_variants());
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

std::vector<runtime_copies> copies_of_runtimes() {
#if TILEWISE_WITH_CUDA
  return {{"cuda", upload_pageable, download_pageable}};
#else
  return {};
#endif
}

}  // namespace tilewise::peers
