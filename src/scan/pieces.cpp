// SPDX-License-Identifier: Apache-2.0
// Scans an array on the host with a device, one piece at a time.
#include "reduce/pieces.hpp"
#include "base/ceil_div.hpp"
#include "scan/carry_chain.hpp"

namespace tilewise::impl::scan {

namespace {

/// Whether the variant can scan a piece with a carry. The scans of other libraries cannot.
bool is_possible(const registry::problem& p, const registry::choice& how, const backend::device& on) {
  return !has_carry(p) && registry::unsupported_reason(*how.variant, part_of(p, p.n()), on, how.tuning).empty();
}

/// A piece is read twice on the device, for the prefix after it and for its outputs. That costs little compared to its
/// transfer.
template <class Op, class T>
void scan_pieces(const registry::problem& p, const registry::choice& how, backend::queue& queue,
                 const registry::host_pointers& host) {
  const std::uint64_t length = reduce::piece_length(p.type, queue);
  const registry::choice reduction =
      registry::choose(reduce::problem_of<T>(length, nullptr, Op::id), queue.device(), {});
  const backend::buffer values(queue, 64 * sizeof(T)), carry(queue, 2 * sizeof(T));
  order::segment<T> done;
  carry_chain<Op, T> chain(done);
  const auto count_of = [&](std::uint64_t i) { return std::min(length, p.n() - i * length); };
  divide::run_pieces(
      queue, host, ceil_div(p.n(), length),
      [&](std::uint64_t i) {
        divide::piece what;
        what.in[0] = what.out[0] = {i * length * sizeof(T), count_of(i) * sizeof(T)};
        return what;
      },
      [&](std::uint64_t i, registry::bindings where) {
        const std::array<T, 2> ends = chain.pass([&] {
          reduce::append_piece<Op>(done, reduction, queue, where.in[0].at(0, count_of(i) * sizeof(T)), values);
        });
        queue.upload(carry, ends.data(), sizeof ends);
        where.in[1] = carry;
        divide::run_part(how, part_of(p, count_of(i)), where, queue);
      });
}

void run(const registry::problem& p, const registry::choice& how, backend::queue& queue,
         const registry::host_pointers& host) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) { scan_pieces<Op, T>(p, how, queue, host); });
  });
}

}  // namespace

const registry::division division{.is_possible = is_possible, .run = run};

}  // namespace tilewise::impl::scan
