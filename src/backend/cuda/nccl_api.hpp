// SPDX-License-Identifier: Apache-2.0
// NCCL, which moves memory between the GPUs of several processes. It is looked for when ranks need it: nothing links
// it, and where it is missing all else works.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <string>

namespace tilewise::backend::cuda {

/// What its library calls ncclComm and ncclUniqueId.
struct nccl_communicator;
struct nccl_id {
  std::array<char, 128> bytes;
};

/// The functions that we call, by the names that follow `nccl` in its library; each returns 0, or what error_string
/// explains.
struct nccl_api {
  static constexpr int bytes = 0;  // ncclChar, the type of what is moved

  int (*GetVersion)(int* version);
  int (*GetUniqueId)(nccl_id* made);
  int (*CommInitRank)(nccl_communicator** made, int ranks, nccl_id id, int rank);
  int (*CommDestroy)(nccl_communicator* of);
  int (*CommAbort)(nccl_communicator* of);
  int (*GroupStart)();
  int (*GroupEnd)();
  int (*Send)(const void* from, std::size_t count, int type, int peer, nccl_communicator* of, cudaStream_t stream);
  int (*Recv)(void* to, std::size_t count, int type, int peer, nccl_communicator* of, cudaStream_t stream);
  const char* (*GetErrorString)(int result);

  /// "2.27.5"
  std::string version() const;
};

/// Null if the library is not here, or is older than 2.7, the first that sends.
const nccl_api* find_nccl();

}  // namespace tilewise::backend::cuda
