// SPDX-License-Identifier: Apache-2.0
// A transport between processes, some of which have GPUs. If all of them can use NCCL, it sends data from GPU to GPU,
// in the order of the queue's stream. Everything else is sent as without NCCL.
#pragma once

#include "backend/cuda/queue.hpp"
#include "backend/group/mpi_world.hpp"

#include <array>
#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

namespace tilewise::backend::group {

/// NCCL's ncclComm and ncclUniqueId. NCCL is loaded when ranks need it. Nothing links it, so everything else works
/// without it.
struct nccl_communicator;
struct nccl_id {
  std::array<char, 128> bytes;
};

/// NCCL's functions that we call, without the prefix `nccl`. Each returns 0 or an error code for error_string.
struct nccl_api {
  static constexpr int bytes = 0;  // ncclChar, the element type of all transfers

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

/// Null if the library is missing or older than 2.7, the first version with ncclSend.
const nccl_api* find_nccl();

class nccl_transport final : public transport {
 public:
  /// Collective: null if no rank has a GPU, or if there is only one rank.
  static std::unique_ptr<transport> between(world& processes, backend::queue& of_this_rank);
  ~nccl_transport() override;
  nccl_transport(const nccl_transport&) = delete;

  unsigned rank() const override { return processes_.rank(); }
  unsigned size() const override { return processes_.size(); }
  void all_gather(const void* mine, std::uint64_t bytes, void* all) override {
    processes_.all_gather(mine, bytes, all);
  }
  void exchange(std::span<const parcel> sends, std::span<const parcel> receives) override;
  loan borrow(std::span<const parcel> sends, std::span<const demand> receives) override {
    return borrow_copies(*this, queue_, sends, receives);
  }
  void give_back() override {}
  void complete(void* host, std::span<const std::uint64_t> border) override { processes_.complete(host, border); }

  /// "by NCCL 2.28.9" or "through the host, since ..."; empty as long as there was no transfer between GPUs.
  std::string way_between_gpus() const override;

 private:
  nccl_transport(world& processes, backend::queue& of_this_rank) : processes_(processes), queue_(of_this_rank) {}
  bool is_worth_it(std::span<const parcel> sends);
  bool opens();
  std::string start();

  world& processes_;
  backend::queue& queue_;
  const nccl_api* nccl_ = nullptr;
  std::string obstacle_;  // why NCCL cannot be used; the same on all ranks
  nccl_communicator* ranks_ = nullptr;
};

}  // namespace tilewise::backend::group
