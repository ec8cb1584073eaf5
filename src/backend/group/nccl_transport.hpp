// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes, some of them with GPUs: what lies on the GPUs goes directly from one to another by NCCL, in
// the order of the queue's stream, where all of them can. All else goes as it does without NCCL.
#pragma once

#include "backend/cuda/nccl_api.hpp"
#include "backend/cuda/queue.hpp"
#include "backend/group/mpi_world.hpp"

namespace tilewise::backend::group {

class nccl_transport final : public transport {
 public:
  /// Together: null if no rank has a GPU, or there is one rank.
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

  /// "by NCCL 2.28.9" or "through the host, since ..."; empty as long as nothing has gone by NCCL.
  std::string way_between_gpus() const override;

 private:
  nccl_transport(world& processes, backend::queue& of_this_rank) : processes_(processes), queue_(of_this_rank) {}
  bool is_worth_it(std::span<const parcel> sends);
  bool opens();
  std::string start();

  world& processes_;
  backend::queue& queue_;
  const cuda::nccl_api* nccl_ = nullptr;
  std::string obstacle_;  // the same on all ranks
  cuda::nccl_communicator* ranks_ = nullptr;
};

}  // namespace tilewise::backend::group
