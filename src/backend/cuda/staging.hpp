// SPDX-License-Identifier: Apache-2.0
// Small uploads that have finished reading the host's data when they return, while the device may still be busy.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

namespace tilewise::backend::cuda {

/// Two pinned buffers used alternately: one is filled while the other is in flight.
class staging {
 public:
  static constexpr std::uint64_t most_bytes = 1 << 20;  // beyond it several threads are faster (transfer_team)

  void upload(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream);
  void close() noexcept;

 private:
  void open();

  std::array<void*, 2> buffer_{};
  std::array<cudaEvent_t, 2> sent_{};
  unsigned next_ = 0;
};

}  // namespace tilewise::backend::cuda
