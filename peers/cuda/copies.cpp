// SPDX-License-Identifier: Apache-2.0
// Plain cudaMemcpy: what transfers cost a program that does nothing about them.
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "peers/cuda/variants.hpp"

namespace tilewise::peers {

namespace {

void copy(backend::queue& on, void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind) {
  backend::cuda::enter(on).finish();  // it knows nothing of the queue's stream
  TW_CUDA(cudaMemcpy(to, from, bytes, kind));
}

}  // namespace

void upload_pageable(backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes) {
  copy(on, to.as<void>(), from, bytes, cudaMemcpyHostToDevice);
}

void download_pageable(backend::queue& on, void* to, backend::memory from, std::uint64_t bytes) {
  copy(on, to, from.as<const void>(), bytes, cudaMemcpyDeviceToHost);
}

}  // namespace tilewise::peers
