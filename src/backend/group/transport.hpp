// SPDX-License-Identifier: Apache-2.0
// Communication between the ranks of a group. A transport only moves bytes. It never adds, since sums must follow the
// order.
#pragma once

#include "backend/backend.hpp"

#include <deque>
#include <type_traits>

namespace tilewise::backend::group {

/// Memory of this rank's device to send to, or to receive from, the rank `peer`.
struct parcel {
  unsigned peer;
  memory where;
};

/// Bytes to receive from the rank `peer`.
struct demand {
  unsigned peer;
  std::uint64_t bytes;
};

/// Memory of other ranks that this rank's device may read, in place or as copies.
class loan {
 public:
  memory at(std::size_t index) const { return where_[index]; }

  void add(memory in_place) { where_.push_back(in_place); }
  /// Returns memory to copy into.
  memory add_copy(queue& of_this_rank, std::uint64_t bytes) {
    return where_.emplace_back(copies_.emplace_back(of_this_rank, bytes));
  }

 private:
  std::vector<memory> where_;
  std::deque<buffer> copies_;
};

/// One rank's end of the transport. Functions that communicate are collective: all ranks call the same ones in the same
/// order, and each call may wait for the others. If one rank fails, the others' calls throw.
class transport {
 public:
  virtual ~transport() = default;

  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;

  /// Gathers `bytes` of host memory from each rank, in order of rank, on all ranks. `bytes` must be the same on every
  /// rank.
  virtual void all_gather(const void* mine, std::uint64_t bytes, void* all) = 0;

  /// Sends and receives. The i-th parcel from one rank to another is the i-th that the other receives from it, of the
  /// same size. A rank must not send to itself. The call is ordered with the rank's queue: it sends the results of work
  /// enqueued before, and work enqueued after sees what was received and may overwrite what was sent. The caller need
  /// not wait for the queue.
  virtual void exchange(std::span<const parcel> sends, std::span<const parcel> receives) = 0;

  /// The same if the sent memory is not written until the next call of these functions or the end of the rank's work.
  /// Then no device waits for those that read its memory.
  virtual void fetch(std::span<const parcel> sends, std::span<const parcel> receives) { exchange(sends, receives); }

  /// The same, but the received memory is a loan. Work enqueued afterwards may read it until give_back(), and also
  /// write it if it is not a copy. The sender must not use what it sent until then. There must be no exchange between
  /// borrow() and give_back().
  virtual loan borrow(std::span<const parcel> sends, std::span<const demand> receives) = 0;
  virtual void give_back() = 0;
  /// Like borrow(), to look at a few values: devices read them in place, and they do not count as sent.
  virtual loan show(std::span<const parcel> sends, std::span<const demand> receives) { return borrow(sends, receives); }

  /// Completes host memory: before the call, rank i has bytes [border[i], border[i + 1]); afterwards every rank has
  /// all.
  virtual void complete(void* host, std::span<const std::uint64_t> border) = 0;

  /// A text that says how data was sent between the GPUs of several processes; empty if there are none.
  virtual std::string way_between_gpus() const { return ""; }
};

/// Collective: a value of each rank, in order. Returns after all ranks have called it.
template <class T>
std::vector<T> gathered(transport& ranks, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(ranks.size());
  ranks.all_gather(&mine, sizeof mine, all.data());
  return all;
}

/// A loan of copies, for transports whose devices cannot read each other's memory.
inline loan borrow_copies(transport& others, queue& of_this_rank, std::span<const parcel> sends,
                          std::span<const demand> receives) {
  loan lent;
  std::vector<parcel> copies;
  for (const demand& one : receives) copies.push_back({one.peer, lent.add_copy(of_this_rank, one.bytes)});
  others.exchange(sends, copies);
  return lent;
}

}  // namespace tilewise::backend::group
