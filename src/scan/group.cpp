// SPDX-License-Identifier: Apache-2.0
// What:   scan on the ranks of a group.
// Order:  a rank's elements are cut into parts, each within one aligned block of the order; carry_chain.hpp has their
//         carries.
// Shape:  a rank sends the block values of its elements to all ranks; then it runs one scan with a carry for each part.
//         Elements that begin at a multiple of a large power of two are few parts.
// Limits: those of the members' variants.
// Twins:  continued.cpp, segment_scan/group.cpp.
#include "reduce/segment.hpp"
#include "scan/rank_parts.hpp"

namespace tilewise::impl::scan {

namespace {

using backend::group::byte_range;
using backend::group::rank_memory;
using divide::rank;

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

/// Cuts a rank's elements, the segment `own`, into parts. `done` is the segment of all elements before them; positions
/// count from the beginning of the array, of `n` elements.
template <class Op, class T>
std::vector<part<T>> parts_of(std::uint64_t n, const carry_of_all<T>& carry, order::segment<T> done,
                              const order::segment<T>& own) {
  carry_chain<Op, T> chain(done, carry.is_given ? carry.prefix[0] : Op::template identity<T>());
  std::vector<part<T>> parts = chain.parts_of(own);
  if (carry.is_given && !parts.empty() && own.end == n) parts.back().carry[1] = carry.prefix[1];
  return parts;
}

template <class Op, class T>
void scan_on(const rank& r, const registry::problem& p, const registry::bindings& where) {
  const carry_of_all<T> carry(p, where, r);
  const byte_range mine = r.part(where.in[0]);
  const backend::memory in = local(where.in[0], r.index(), mine);
  const order::segment<T> own =
      reduce::segment_of<T>(detail::argument_for("x", r.view<T>(in)), mine.begin / sizeof(T), Op::id);
  order::segment<T> before;
  const std::vector<order::segment<T>> all = r.all_gather(own);
  for (unsigned lower = 0; lower < r.index(); ++lower) order::append<Op>(before, all[lower]);
  const rank_memory out = r.result(where.out[0], mine);
  scan_parts(p, parts_of<Op>(p.n(), carry, before, own), in, out, r);
  r.deliver(
      where.out[0], [&](unsigned k) { return backend::group::part_of(where.in[0], k); }, out);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      divide::run_on_ranks(queue, p, where, [&](const rank& r) { scan_on<Op, T>(r, p, where); });
    });
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  return parts_unsupported_by_members(p, on);
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
