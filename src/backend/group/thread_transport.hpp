// SPDX-License-Identifier: Apache-2.0
// The transport for ranks in one process. Each rank is a thread, and they read each other's memory.
#pragma once

#include "backend/group/transport.hpp"

#include <atomic>
#include <exception>

namespace tilewise::backend::group {

/// Synchronizes the threads of one call. After the first failure no thread waits any longer.
class meeting {
 public:
  explicit meeting(std::span<backend::queue* const> queues);

  /// Thrown in the waiting threads when another rank has failed.
  struct cancelled {};

  /// Runs the work of rank `index` and records its failure. All of the rank's work must be in `work`, since the others
  /// wait for it.
  template <class Work>
  void take_part(unsigned index, const Work& work) noexcept {
    try {
      work();
    } catch (const cancelled&) {
    } catch (...) {
      fail(index);
    }
  }
  /// Call this after all ranks have taken part. Throws the first failure, with its rank.
  void end() const;

 private:
  friend class thread_transport;
  void wait();
  void fail(unsigned index) noexcept;  // records the exception being handled

  struct seat {
    backend::queue* queue;
    const void* shown = nullptr;                      // for all_gather
    std::vector<parcel> sends = {};                   // memory that the others may read
    std::vector<std::vector<std::byte>> copies = {};  // host copies of sends that they cannot read directly
    unsigned lent = 0, returned = 0;                  // queue marks: sent data is ready; received data has been read
  };
  std::vector<seat> seats_;
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> round_{0};
  std::atomic<bool> failed_{false};
  unsigned failed_rank_ = 0;
  std::exception_ptr failure_;
};

class thread_transport final : public transport {
 public:
  thread_transport(meeting& where, unsigned rank) : meeting_(where), rank_(rank) {}

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return static_cast<unsigned>(meeting_.seats_.size()); }
  void all_gather(const void* mine, std::uint64_t bytes, void* all) override;
  void exchange(std::span<const parcel> sends, std::span<const parcel> receives) override;
  void fetch(std::span<const parcel> sends, std::span<const parcel> receives) override;
  loan borrow(std::span<const parcel> sends, std::span<const demand> receives) override;
  void give_back() override;
  void complete(void*, std::span<const std::uint64_t>) override {}  // all ranks use the same host memory

  /// Call this at the end of the rank's work: its queue waits for the queues that read its data.
  void settle();

 private:
  /// One parcel that another rank sends to this one.
  struct item {
    meeting::seat& from;
    std::size_t index;

    memory where() const { return from.sends[index].where; }
  };
  void lend(std::span<const parcel> sends);
  void return_loans();
  /// Calls use(item, i) for each received parcel i, in order.
  template <class Received, class Use>
  void for_each_item(std::span<const Received> receives, Use use);
  void copy(const item& from, memory to);

  meeting& meeting_;
  unsigned rank_;
  bool is_settled_ = true;
};

}  // namespace tilewise::backend::group
