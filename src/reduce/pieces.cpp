// SPDX-License-Identifier: Apache-2.0
#include "reduce/pieces.hpp"

#include "base/ceil_div.hpp"

#include <cstring>

namespace tilewise::impl::reduce {

namespace {

template <class Op, class T>
T reduce_pieces(const registry::problem& p, const registry::choice& how, backend::queue& queue,
                const registry::host_pointers& host) {
  const std::uint64_t length = piece_length(p.type, queue);
  const backend::buffer values(queue, 64 * sizeof(T));
  order::segment<T> done;
  divide::run_pieces(
      queue, {host.in, {}, host.computing_ns}, ceil_div(p.n(), length),
      [&](std::uint64_t i) {
        const std::uint64_t first = i * length, count = std::min(length, p.n() - first);
        return divide::piece{.in = {{{first * sizeof(T), count * sizeof(T)}}}};
      },
      [&](std::uint64_t i, const registry::bindings& where) {
        const std::uint64_t count = std::min(length, p.n() - i * length);
        append_piece<Op>(done, how, queue, where.in[0].at(0, count * sizeof(T)), values);
      });
  return order::canonical(result_of<T, Op>(p, order::fold<Op>(done)));
}

void run(const registry::problem& p, const registry::choice& how, backend::queue& queue,
         const registry::host_pointers& host) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      const T value = reduce_pieces<Op, T>(p, how, queue, host);
      std::memcpy(host.out[0], &value, sizeof value);
    });
  });
}

}  // namespace

const registry::division division{.is_possible = divide::always_divisible, .run = run};

}  // namespace tilewise::impl::reduce
