// SPDX-License-Identifier: Apache-2.0
// The state of a reduction over a part [begin, end) of a longer array. It can be kept between calls, stored, sent, and
// merged with neighbouring parts.
#pragma once

#include <tilewise/call.hpp>

#include <array>

namespace tilewise {

namespace order {

/// The values of the fewest aligned blocks that make up [begin, end), in order of position. Unused values are 0 and
/// every NaN is the canonical NaN, so equal parts of equal arrays have equal bytes.
template <scalar T>
struct segment {
  std::uint64_t begin = 0;     ///< position in the longer array
  std::uint64_t end = 0;       ///< one past the last
  std::array<T, 126> value{};  ///< at most 63 on each side of the position with the most trailing zeros
};

}  // namespace order

/// The partial reduction of the elements [begin(), end()) of a longer array. Once all parts of an array are merged,
/// value() is reduce() of the whole array, bit for bit. The cuts between the parts and the order in which neighbours
/// are merged do not change any bit. A `partial` has a fixed size and no pointers: memcpy can copy it to a file, or to
/// a process on another machine with the same byte order.
template <scalar T>
class TILEWISE_API partial {
 public:
  using value_type = T;  ///< the type of an element

  /// A part without elements. The first element that is pushed has the position `begin` in the longer array.
  explicit partial(op operation = op::sum, std::uint64_t begin = 0);

  std::uint64_t begin() const { return blocks_.begin; }         ///< position of its first element in the longer array
  std::uint64_t end() const { return blocks_.end; }             ///< position of the next element to push
  op operation() const { return static_cast<op>(operation_); }  ///< the operator of the reduction

  /// Appends elements at end(). If it throws, this object is unchanged.
  void push(T value);
  void push(std::span<const T> values, const placement& where = {});
  /// The same for any other range, such as a std::vector<long long>.
  template <host_range Range>
  requires std::same_as<scalar_of<element_of<Range>>, T>
  void push(const Range& values, const placement& where = {}) {
    push(std::span<const T>(detail::data_of(values), std::ranges::size(values)), where);
  }
  /// The same for data on a device; waits for the device.
  void push(const array<T>& values, const placement& where = {});

  /// Appends `right`, which must begin at end() and have the same operation. Otherwise throws `invalid_argument` and
  /// changes neither part.
  void merge(const partial& right);

  /// reduce() of the elements [0, end()), also if there are none. Throws `invalid_argument` if the part does not begin
  /// at 0: the order depends on positions, so such a part has no value of its own.
  T value() const;

  // For the algorithms that continue from it.
  const order::segment<T>& blocks() const { return blocks_; }
  partial(op operation, const order::segment<T>& blocks);

 private:
  order::segment<T> blocks_;
  std::uint64_t operation_;  // 64 bits, so that the class has no padding bytes
};

}  // namespace tilewise
