// SPDX-License-Identifier: Apache-2.0
// Ranks in one process: a thread each, which read one another's memory.
#pragma once

#include "backend/group/transport.hpp"

#include <atomic>
#include <exception>

namespace tilewise::backend::group {

/// Where the threads of one call meet, and where the first failure ends the others' waiting.
class meeting {
 public:
  explicit meeting(std::span<backend::queue* const> queues);

  /// Thrown to those who wait when another rank has failed.
  struct cancelled {};

  /// The work of rank `index`, which may fail: from its first statement on, since the others wait for it.
  template <class Work>
  void take_part(unsigned index, const Work& work) noexcept {
    try {
      work();
    } catch (const cancelled&) {
    } catch (...) {
      fail(index);
    }
  }
  /// Once all have: throws what failed first, with the rank that did.
  void end() const;

 private:
  friend class thread_transport;
  void wait();
  void fail(unsigned index) noexcept;  // with what is being thrown

  struct seat {
    backend::queue* queue;
    const void* shown = nullptr;                      // to all
    std::vector<parcel> sends = {};                   // what the others may read
    std::vector<std::vector<std::byte>> copies = {};  // on the host, of those that they cannot
    unsigned lent = 0, returned = 0;                  // marks: what was sent is there; what was received is read
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
  void complete(void*, std::span<const std::uint64_t>) override {}  // it is the same memory

  /// At the end of the rank's work: its queue follows those that have read what it sent.
  void settle();

 private:
  /// What another rank sends to this one.
  struct item {
    meeting::seat& from;
    std::size_t index;

    memory where() const { return from.sends[index].where; }
  };
  void lend(std::span<const parcel> sends);
  void return_loans();
  /// Calls use(item, i) for the i-th of what is received, in its order.
  template <class Received, class Use>
  void for_each_item(std::span<const Received> receives, Use use);
  void copy(const item& from, memory to);

  meeting& meeting_;
  unsigned rank_;
  bool is_settled_ = true;
};

}  // namespace tilewise::backend::group
