// SPDX-License-Identifier: Apache-2.0
// What:   copies of a megabyte or less from another GPU.
// Order:  none.
// Shape:  a word for each lane, 16 bytes of it where all is aligned to that.
// Limits: memory that the device reads where it lies.
// Twins:  opencl_copy.cl.
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_peer_copy.hpp"
#include "base/ceil_div.hpp"

namespace tilewise::backend::cuda {

namespace {

template <class Word>
__global__ void copy_words(Word* to, const Word* from, std::uint64_t words) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words) to[i] = from[i];
}

template <class Word>
void copy_as(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) {
  constexpr unsigned group_size = 256;
  const std::uint64_t words = bytes / sizeof(Word);
  copy_words<<<static_cast<unsigned>(ceil_div(words, group_size)), group_size, 0, stream>>>(
      static_cast<Word*>(to), static_cast<const Word*>(from), words);
  TW_CUDA(cudaGetLastError());
}

}  // namespace

void copy_by_kernel(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) {
  const auto all = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  if (all % sizeof(uint4) == 0)
    copy_as<uint4>(to, from, bytes, stream);
  else if (all % sizeof(unsigned) == 0)
    copy_as<unsigned>(to, from, bytes, stream);
  else
    copy_as<unsigned char>(to, from, bytes, stream);
}

}  // namespace tilewise::backend::cuda
