// SPDX-License-Identifier: Apache-2.0
// What:   scan on the ranks of a group.
// Order:  a rank's part is cut into pieces, each within one aligned block of the order. The carry of a piece is the
//         fold of the values of all blocks before it, as in continued.cpp.
// Shape:  a rank sends the block values of its part to all ranks; then it runs one scan with a carry for each piece. A
//         part that begins at a multiple of a large power of two has few pieces.
// Limits: those of the members' variants.
// Twins:  continued.cpp.
#include "reduce/segment.hpp"
#include "registry/ranks.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan {

namespace {

using backend::group::byte_range;
using backend::group::rank_memory;
using registry::rank;

template <class T>
struct piece {
  std::uint64_t first, count;
  T before, after;
};

/// The prefixes before and after the array, if the problem has a carry.
template <class T>
struct carry_of_all {
  bool is_given;
  std::array<T, 2> prefix;

  carry_of_all(const registry::problem& p, const registry::bindings& where, const rank& r) : is_given(has_carry(p)) {
    if (!is_given) return;
    const rank_memory there = r.fetch(where.in[1], [](unsigned) { return byte_range{0, sizeof prefix}; });
    r.queue().download(prefix.data(), there, sizeof prefix);
  }
};

/// Cuts a part into pieces. `own` is the segment of the part, `done` that of all elements before it; positions count
/// from the beginning of the array.
template <class Op, class T>
std::vector<piece<T>> pieces_of(std::uint64_t n, const carry_of_all<T>& carry, order::segment<T> done,
                                const order::segment<T>& own) {
  const auto prefix = [&] {
    if (!carry.is_given) return order::fold<Op>(done);
    return done.end == n ? carry.prefix[1] : order::fold_onto<Op>(carry.prefix[0], done);
  };
  std::vector<piece<T>> all;
  const T* value = own.value.data();
  while (done.end != own.end) {
    const std::uint64_t first = done.end, count = piece_length(first, own.end - first);
    const T before = prefix();
    order::for_each_block(first, first + count,
                          [&](std::uint64_t, unsigned level) { order::append<Op>(done, *value++, level); });
    all.push_back({first, count, before, prefix()});
  }
  return all;
}

template <class T>
void scan_pieces(const registry::problem& p, const std::vector<piece<T>>& pieces, const backend::memory& in,
                 const backend::memory& out, const rank& r) {
  std::vector<T> carries;
  for (const piece<T>& one : pieces) carries.insert(carries.end(), {one.before, one.after});
  const backend::buffer carry(r.queue(), carries.size() * sizeof(T));
  r.queue().upload(carry, carries.data(), carries.size() * sizeof(T));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint64_t at = (pieces[i].first - pieces[0].first) * sizeof(T), bytes = pieces[i].count * sizeof(T);
    registry::bindings there;
    there.in = {in.at(at, bytes), backend::memory(carry).at(2 * i * sizeof(T), 2 * sizeof(T))};
    there.out[0] = out.at(at, bytes);
    registry::run_on_rank(r, part_of(p, pieces[i].count), there);
  }
}

template <class Op, class T>
void scan_part(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const carry_of_all<T> carry(p, where, r);
  const byte_range mine = r.part(where.in[0]);
  const backend::memory in = local(where.in[0], r.index(), mine);
  const order::segment<T> own = reduce::segment_of(r.view<T>(in), 0, mine.begin / sizeof(T), {.operation = Op::id});
  order::segment<T> before;
  const std::vector<order::segment<T>> all = r.all_gather(own);
  for (unsigned lower = 0; lower < r.index(); ++lower) order::append<Op>(before, all[lower]);
  const rank_memory out = r.result(where.out[0], mine);
  scan_pieces(p, pieces_of<Op>(p.n(), carry, before, own), in, out, r);
  r.deliver(
      where.out[0], [&](unsigned k) { return backend::group::part_of(where.in[0], k); }, out);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      registry::run_on_ranks(queue, p, where, [&](const rank& r) { scan_part<Op, T>(p, where, r); });
    });
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  return registry::unsupported_by_members(part_of(p, p.n()), on);
}

}  // namespace

std::vector<registry::variant> scan_group_variants() {
  return {{.algorithm = "scan",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "block values of each rank's part to all, then a scan of each part with its carry",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::scan
