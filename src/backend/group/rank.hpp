// SPDX-License-Identifier: Apache-2.0
// A rank, a device of a group with its shard of the data, for code that runs on all ranks; and the group's arrays,
// whose shards lie on the ranks.
#pragma once

#include "backend/backend.hpp"
#include "backend/group/transport.hpp"

#include <tilewise/array.hpp>

#include <algorithm>
#include <functional>
#include <type_traits>

namespace tilewise::backend::group {

/// Bytes [begin, end) of an array.
struct byte_range {
  std::uint64_t begin = 0, end = 0;

  std::uint64_t bytes() const { return end - begin; }
  bool holds(byte_range other) const { return begin <= other.begin && other.end <= end; }
};
/// The intersection of two ranges.
constexpr byte_range common(byte_range a, byte_range b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// An array of a group, to which memory::base points. Rank i holds bytes [border[i], border[i + 1]).
struct group_array {
  std::vector<std::uint64_t> border;
  std::vector<memory> part;  // empty for ranks of other processes
};

inline const group_array& array_of(const memory& m) { return *static_cast<const group_array*>(m.base); }

/// The bytes of `m` that rank `index` holds, counted from the begin of `m`, which may be a range of an array.
inline byte_range part_of(const memory& m, unsigned index) {
  if (m.base == nullptr) return {};
  const auto within = [&](std::uint64_t at) { return std::clamp(at, m.offset, m.offset + m.bytes) - m.offset; };
  return {within(array_of(m).border[index]), within(array_of(m).border[index + 1])};
}

/// The memory, on rank `index`, of a range of `m` that this rank holds.
inline memory local(const memory& m, unsigned index, byte_range range) {
  if (range.bytes() == 0) return {};
  return array_of(m).part[index].at(m.offset + range.begin - array_of(m).border[index], range.bytes());
}

/// A range of a group's array in the memory of one rank's device: in place if the rank holds all of it, otherwise in
/// separate memory.
class rank_memory {
 public:
  explicit rank_memory(memory in_place) : where_(in_place) {}
  rank_memory(backend::queue& q, std::uint64_t bytes) : own_(std::make_unique<buffer>(q, bytes)), where_(*own_) {}

  operator memory() const { return where_; }
  bool is_own() const { return own_ != nullptr; }

 private:
  std::unique_ptr<buffer> own_;
  memory where_;
};

/// The range of an array for each rank. Every rank can compute all ranks' ranges, so they need not be sent.
using ranges = std::function<byte_range(unsigned rank)>;

/// The ranges of a group's array that the ranks want.
struct piece {
  memory of;
  ranges wanted;
};

/// The interface for code that runs on each rank of a group. All ranks must call the functions marked "Collective" in
/// the same order.
class rank {
 public:
  rank(std::shared_ptr<backend::device> device, transport& others) : device_(std::move(device)), others_(others) {}

  unsigned index() const { return others_.rank(); }
  unsigned count() const { return others_.size(); }
  /// The device of this rank alone.
  const tilewise::device& device() const { return device_; }
  backend::queue& queue() const { return device_.implementation().queue(); }

  /// Collective: the values of all ranks, in order.
  template <class T>
  std::vector<T> all_gather(const T& mine) const {
    return gathered(others_, mine);
  }

  /// Collective: the same with several values per rank, the same number from each.
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(count() * mine.size());
    others_.all_gather(mine.data(), mine.size_bytes(), all.data());
    return all;
  }

  /// The bytes of `of` that this rank holds, counted from the begin of `of`.
  byte_range part(const memory& of) const { return part_of(of, index()); }

  /// Collective: each rank gets its range of `wanted`; ranges may overlap. The array must not be written until the next
  /// exchange, or the end of the rank's work.
  rank_memory fetch(const memory& of, const ranges& wanted) const;
  /// The same for several arrays in one exchange.
  std::vector<rank_memory> fetch(std::span<const piece> wanted) const;

  /// Memory for a range of a result, which `deliver` copies to its place.
  rank_memory result(const memory& of, byte_range range) const;
  /// Collective: copies the range that each rank has computed into the result. Ranges must not overlap.
  void deliver(const memory& to, const ranges& of, const rank_memory& computed) const;

  /// Writes bytes [first, first + bytes) of an array from host memory, but only those that this rank holds. Not
  /// collective: every rank that may hold some of the bytes calls it.
  void store(const memory& to, std::uint64_t first, const void* from, std::uint64_t bytes) const;

  /// Collective: transport::exchange.
  void exchange(std::span<const parcel> sends, std::span<const parcel> receives) const {
    others_.exchange(sends, receives);
  }

  /// Collective: transport::borrow.
  loan borrow(std::span<const parcel> sends, std::span<const demand> receives) const {
    return others_.borrow(sends, receives);
  }
  void give_back() const { others_.give_back(); }
  loan show(std::span<const parcel> sends, std::span<const demand> receives) const {
    return others_.show(sends, receives);
  }

  /// Memory of this rank's device as an array that does not own it.
  template <scalar T>
  array<T> view(const memory& m) const {
    return {device_, std::make_shared<memory>(m), m.bytes / sizeof(T)};
  }

 private:
  /// Whether each rank holds its range; then nothing is sent.
  bool lie_on_their_ranks(const memory& of, const ranges& wanted) const;
  /// Prepares fetching from one array: appends to this rank's sends and receives.
  rank_memory fetched(const piece& one, std::vector<parcel>& sends, std::vector<parcel>& receives) const;

  tilewise::device device_;
  transport& others_;
};

}  // namespace tilewise::backend::group
