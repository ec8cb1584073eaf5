// SPDX-License-Identifier: Apache-2.0
// Reduces a host array on a device, one chunk at a time.
#pragma once

#include "divide/pieces.hpp"
#include "order/segment.hpp"
#include "reduce/problem.hpp"

#include <bit>

namespace tilewise::impl::reduce {

/// The length of a piece in elements. It is a power of two, so that every piece but the last is one block.
inline std::uint64_t piece_length(dtype type, const backend::queue& queue) {
  return std::bit_floor(divide::piece_bytes(queue.device().info()) / size_of(type));
}

/// Appends the elements at `x`, which lie on the queue's device, to the segment. `values` needs room for 64 elements.
/// Waits until the values of their blocks are on the host.
template <class Op, class T>
void append_piece(order::segment<T>& to, const registry::choice& how, backend::queue& queue, backend::memory x,
                  backend::memory values) {
  const std::uint64_t begin = to.end, end = begin + x.bytes / sizeof(T);
  unsigned count = 0;
  order::for_each_block(begin, end, [&](std::uint64_t first, unsigned level) {
    const registry::problem block = problem_of<T>(std::uint64_t{1} << level, nullptr, Op::id);
    registry::bindings where;
    where.in[0] = x.at((first - begin) * sizeof(T), block.n() * sizeof(T));
    where.out[0] = values.at(count++ * sizeof(T), sizeof(T));
    divide::run_part(how, block, where, queue);
  });
  std::array<T, 64> value;
  queue.download(value.data(), values, count * sizeof(T));
  const T* next = value.data();
  order::for_each_block(begin, end, [&](std::uint64_t, unsigned level) { order::append<Op>(to, *next++, level); });
}

extern const registry::division division;

}  // namespace tilewise::impl::reduce
