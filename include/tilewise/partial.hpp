// SPDX-License-Identifier: Apache-2.0
// The state of a reduction over a part [begin, end) of a longer array: kept between calls, stored, sent, and merged
// with its neighbours.
#pragma once

#include <tilewise/reduce.hpp>

#include <array>

namespace tilewise {

namespace order {

/// The values of the fewest aligned blocks that [begin, end) consists of, in order of position. What is not used is 0
/// and every NaN is the canonical one, so equal parts of equal arrays have equal bytes.
template <scalar T>
struct segment {
  std::uint64_t begin = 0;     ///< position in the longer array
  std::uint64_t end = 0;       ///< one past the last
  std::array<T, 126> value{};  ///< at most 63 to either side of the position with the most trailing zeros
};

}  // namespace order

/// What is known of the elements [begin(), end()) of a longer array: enough to reduce the whole once all its parts are
/// merged. However an array is cut into parts, and in whatever grouping neighbours are merged, the same part has the
/// same bytes, and value() is reduce() of the whole, bit for bit. Plain data of a fixed size without pointers: copy it
/// with memcpy to a file or to another process of a machine with the same byte order.
template <scalar T>
class TILEWISE_API partial {
 public:
  using value_type = T;  ///< the type of an element

  /// No elements yet; the first one pushed has the position `begin` in the longer array.
  explicit partial(op operation = op::sum, std::uint64_t begin = 0);

  std::uint64_t begin() const { return blocks_.begin; }         ///< where its first element lies in the longer array
  std::uint64_t end() const { return blocks_.end; }             ///< where the next one would
  op operation() const { return static_cast<op>(operation_); }  ///< what it folds with

  /// Append elements at end(). The options say where and how; the operation is this object's own, and naming another
  /// one in them is `invalid_argument`; op::sum, their default, counts as not named. Whatever fails, the object is as
  /// it was.
  void push(T value);
  void push(std::span<const T> values, const reduce_options& options = {});
  /// For data on a device; waits for the values of its blocks.
  void push(const array<T>& values, const reduce_options& options = {});

  /// Appends the part that begins at end(). Throws `invalid_argument`, with both untouched, if `right` begins elsewhere
  /// or has another operation.
  void merge(const partial& right);

  /// reduce() of the elements [0, end()); of none, as reduce() of none. A part that does not begin at 0 has no value of
  /// its own, since the order depends on positions: `invalid_argument`.
  T value() const;

  // For the algorithms that continue from it.
  const order::segment<T>& blocks() const { return blocks_; }
  partial(op operation, const order::segment<T>& blocks);

 private:
  order::segment<T> blocks_;
  std::uint64_t operation_;  // as wide as the others, so that there are no bytes between them
};

}  // namespace tilewise
