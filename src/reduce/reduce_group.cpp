// What:   reduce on the ranks of a group.
// Order:  each rank has the values of the aligned blocks of its part; all of them are folded, in order of position.
// Shape:  a rank reduces its own part where it lies; 16 values or so travel from each rank to all.
// Limits: those of the members' variants.
// Twins:  partial.cpp, whose state it is.
#include "reduce/reduce_problem.hpp"
#include "reduce/reduce_segment.hpp"
#include "registry/ranks.hpp"

namespace tilewise::impl::reduce {

namespace {

template <class Op, class T>
void reduce_part(const registry::problem& p, const registry::bindings& where, const registry::rank& r) {
  const backend::group::byte_range mine = r.part(where.in[0]);
  const array<T> values = r.view<T>(local(where.in[0], r.index(), mine));
  order::segment<T> all;
  for (const auto& part : r.all_gather(segment_of(values, 0, mine.begin / sizeof(T), {.operation = Op::id})))
    order::append<Op>(all, part);
  const T value = order::canonical(result_of<T, Op>(p, order::fold<Op>(all)));
  r.store(where.out[0], 0, &value, sizeof value);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      backend::group::enter(queue).on_each_rank([&](const registry::rank& r) { reduce_part<Op, T>(p, where, r); });
    });
  });
}

}  // namespace

std::vector<registry::variant> reduce_group_variants() {
  return {{.algorithm = "reduce",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "block values of each rank's part, folded by all in the order",
           .unsupported = registry::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::reduce
