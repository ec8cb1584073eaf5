// SPDX-License-Identifier: Apache-2.0
// Arrays on the host that a device reduces piece by piece.
#pragma once

#include "order/segment.hpp"
#include "reduce/problem.hpp"
#include "registry/pieces.hpp"

#include <bit>

namespace tilewise::impl::reduce {

/// Where pieces of an array are cut: at multiples of a power of two, so that all but the last are one block.
inline std::uint64_t piece_length(dtype type, const backend::queue& queue) {
  return std::bit_floor(registry::piece_bytes(queue.device().info()) / size_of(type));
}

/// Appends the elements that lie at `x` on the queue's device. Waits for their blocks' values, which need room for 64
/// elements at `values`.
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
    registry::run_part(how, block, where, queue);
  });
  std::array<T, 64> value;
  queue.download(value.data(), values, count * sizeof(T));
  const T* next = value.data();
  order::for_each_block(begin, end, [&](std::uint64_t, unsigned level) { order::append<Op>(to, *next++, level); });
}

extern const registry::division division;

}  // namespace tilewise::impl::reduce
