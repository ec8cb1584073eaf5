// SPDX-License-Identifier: Apache-2.0
// How the ranks of a group reach each other. No transport ever adds: it moves bytes, and sums are folds in the order.
#pragma once

#include "backend/backend.hpp"

#include <deque>
#include <type_traits>

namespace tilewise::backend::group {

/// Memory of a rank's own device that goes to, or comes from, another rank.
struct parcel {
  unsigned peer;
  memory where;
};

/// How much comes from another rank.
struct demand {
  unsigned peer;
  std::uint64_t bytes;
};

/// Memory of other ranks that this rank's device may read: where it lies, or copies.
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

/// One rank's end of it. All ranks call the same functions in the same order; each call may wait for the others. If one
/// of them fails, the others' calls throw.
class transport {
 public:
  virtual ~transport() = default;

  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;

  /// `bytes` of the host's memory from each rank to all, in order of rank; every rank gives equally many.
  virtual void all_gather(const void* mine, std::uint64_t bytes, void* all) = 0;

  /// What one rank sends to another in its order, the other receives in its own order, with the same sizes; nobody
  /// sends to itself. What is sent must have been enqueued in the rank's queue; work that is enqueued there afterwards
  /// sees what was received, and may overwrite what was sent. Need not wait for either.
  virtual void exchange(std::span<const parcel> sends, std::span<const parcel> receives) = 0;

  /// The same, of memory that is left alone until the next of these calls or the end of the rank's work: then no device
  /// waits for those that read from it.
  virtual void fetch(std::span<const parcel> sends, std::span<const parcel> receives) { exchange(sends, receives); }

  /// The same, but what is received is lent: work that is enqueued afterwards may read it until give_back, or, where it
  /// is no copy, write it, and what was sent must be left alone until then. No exchange may come between the two.
  virtual loan borrow(std::span<const parcel> sends, std::span<const demand> receives) = 0;
  virtual void give_back() = 0;
  /// The same of memory that devices read where it lies, for a look at a few values, which nobody counts as sent.
  virtual loan show(std::span<const parcel> sends, std::span<const demand> receives) { return borrow(sends, receives); }

  /// Host memory of which rank i has bytes [border[i], border[i + 1]): afterwards every rank has all of them.
  virtual void complete(void* host, std::span<const std::uint64_t> border) = 0;

  /// How memory of GPUs has gone between processes, for people; empty where that is no question.
  virtual std::string way_between_gpus() const { return ""; }
};

/// Together: a value of each rank, in order. Nobody has it before all are here.
template <class T>
std::vector<T> gathered(transport& ranks, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(ranks.size());
  ranks.all_gather(&mine, sizeof mine, all.data());
  return all;
}

/// A loan of copies, for transports whose devices cannot read one another's memory.
inline loan borrow_copies(transport& others, queue& of_this_rank, std::span<const parcel> sends,
                          std::span<const demand> receives) {
  loan lent;
  std::vector<parcel> copies;
  for (const demand& one : receives) copies.push_back({one.peer, lent.add_copy(of_this_rank, one.bytes)});
  others.exchange(sends, copies);
  return lent;
}

}  // namespace tilewise::backend::group
