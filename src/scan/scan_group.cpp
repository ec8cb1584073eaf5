// What:   scan on the ranks of a group.
// Order:  a rank's part is cut into pieces that each lie in one aligned block of the order; the carry of each is the
//         fold of the values of all blocks that precede it, as in scan_continued.cpp.
// Shape:  block values of the rank's part, which travel to all; then one scan with carry for each piece. A part that
//         begins at a multiple of a large power of two is few pieces.
// Limits: those of the members' variants.
// Twins:  scan_continued.cpp.
#include "reduce/reduce_segment.hpp"
#include "registry/ranks.hpp"
#include "scan/scan_problem.hpp"

#include <bit>

namespace tilewise::impl::scan {

namespace {

using backend::group::byte_range;
using backend::group::rank_memory;
using registry::rank;

/// Elements from `first` on that lie in one aligned block with it.
std::uint64_t piece_length(std::uint64_t first, std::uint64_t count) {
  return first == 0 ? count : std::min(count, std::uint64_t{1} << std::countr_zero(first));
}

template <class T>
struct piece {
  std::uint64_t first, count;
  T before, after;
};

/// `done` is what precedes the part whose blocks are `own`.
template <class Op, class T>
std::vector<piece<T>> pieces_of(order::segment<T> done, const order::segment<T>& own) {
  std::vector<piece<T>> all;
  const T* value = own.value.data();
  while (done.end != own.end) {
    const std::uint64_t first = done.end, count = piece_length(first, own.end - first);
    const T before = order::fold<Op>(done);
    order::for_each_block(first, first + count,
                          [&](std::uint64_t, unsigned level) { order::append<Op>(done, *value++, level); });
    all.push_back({first, count, before, order::fold<Op>(done)});
  }
  return all;
}

template <class Op, class T>
void scan_part(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const byte_range mine = r.part(where.in[0]);
  const std::uint64_t begin = mine.begin / sizeof(T);
  const backend::memory in = local(where.in[0], r.index(), mine);
  const order::segment<T> own = reduce::segment_of(r.view<T>(in), 0, begin, {.operation = Op::id});
  order::segment<T> before;
  const std::vector<order::segment<T>> all = r.all_gather(own);
  for (unsigned lower = 0; lower < r.index(); ++lower) order::append<Op>(before, all[lower]);
  const rank_memory out = r.result(where.out[0], mine);
  const std::vector<piece<T>> pieces = pieces_of<Op>(before, own);
  std::vector<T> carries;
  for (const piece<T>& one : pieces) carries.insert(carries.end(), {one.before, one.after});
  const backend::buffer carry(r.queue(), carries.size() * sizeof(T));
  r.queue().upload(carry, carries.data(), carries.size() * sizeof(T));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint64_t at = (pieces[i].first - begin) * sizeof(T), bytes = pieces[i].count * sizeof(T);
    registry::bindings there;
    there.in = {in.at(at, bytes), backend::memory(carry).at(2 * i * sizeof(T), 2 * sizeof(T))};
    there.out[0] = backend::memory(out).at(at, bytes);
    registry::run_on_rank(r, part_of(p, pieces[i].count), there);
  }
  r.deliver(where.out[0], mine, out);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      backend::group::enter(queue).on_each_rank([&](const rank& r) { scan_part<Op, T>(p, where, r); });
    });
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (has_carry(p)) return "a group takes whole arrays, without a carry";
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
