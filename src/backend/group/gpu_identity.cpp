// SPDX-License-Identifier: Apache-2.0
#include "backend/group/gpu_identity.hpp"

#if TILEWISE_WITH_CUDA
#include "backend/cuda/device.hpp"
#endif

namespace tilewise::backend::group {

gpu_identity identity_of(const backend::device& device) {
#if TILEWISE_WITH_CUDA
  if (device.info().backend == "cuda") return cuda::uuid_of(device);
#endif
  static_cast<void>(device);
  return {};
}

std::optional<sharing> find_sharing(std::span<const gpu_identity> of_ranks) {
  for (unsigned second = 1; second < of_ranks.size(); ++second)
    for (unsigned first = 0; first < second; ++first)
      if (of_ranks[first] == of_ranks[second] && of_ranks[first] != gpu_identity{}) return sharing{first, second};
  return std::nullopt;
}

}  // namespace tilewise::backend::group
