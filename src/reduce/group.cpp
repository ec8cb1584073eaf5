// SPDX-License-Identifier: Apache-2.0
// What:   reduce on the ranks of a group.
// Order:  each rank computes the values of the aligned blocks of its part; all of them are folded in order of position.
// Shape:  a rank reduces its own part in place. The rank that has the result reads the few block values of the others.
//         On CUDA this only enqueues, so the next call begins while this one computes.
// Limits: those of the members' variants.
// Twins:  partial.cpp, which keeps the same block values.
#include "divide/ranks.hpp"
#include "reduce/problem.hpp"
#include "reduce/segment.hpp"

namespace tilewise::impl::reduce {

namespace {

using backend::buffer;
using backend::memory;
using backend::group::demand;
using backend::group::loan;
using backend::group::parcel;
using backend::group::part_of;
using divide::rank;

/// The elements [begin, end) of a rank's part.
struct element_range {
  std::uint64_t begin, end;

  unsigned blocks() const { return order::block_count(begin, end); }
};

template <class T>
element_range elements_of(const memory& x, unsigned rank) {
  const backend::group::byte_range part = part_of(x, rank);
  return {part.begin / sizeof(T), part.end / sizeof(T)};
}

/// Writes the values of the blocks of this rank's part. A few blocks take one launch each. More blocks are mostly
/// short, and are computed as in segment_of.
template <class Op, class T>
void write_block_values(const memory& x, const rank& r, const memory& to) {
  constexpr unsigned few = 8;
  const element_range mine = elements_of<T>(x, r.index());
  if (mine.blocks() == 0) return;
  const memory own = local(x, r.index(), r.part(x));
  if (mine.blocks() > few) {
    const order::segment<T> values = segment_of<T>(detail::argument_for("x", r.view<T>(own)), mine.begin, Op::id);
    return r.queue().upload(to, values.value.data(), to.bytes);
  }
  std::uint64_t slot = 0;
  order::for_each_block(mine.begin, mine.end, [&](std::uint64_t at, unsigned level) {
    const std::uint64_t length = std::uint64_t{1} << level;
    registry::bindings where;
    where.in[0] = own.at((at - mine.begin) * sizeof(T), length * sizeof(T));
    where.out[0] = to.at(slot++ * sizeof(T), sizeof(T));
    divide::run_on_rank(r, problem_of<T>(length, nullptr, Op::id), where);
  });
}

/// Folds the values of all ranks on the host; values[k] are those of rank k.
template <class Op, class T>
T fold_on_host(const registry::problem& p, const memory& x, const rank& r, std::span<const memory> values) {
  order::segment<T> all;
  for (unsigned k = 0; k < r.count(); ++k) {
    const element_range range = elements_of<T>(x, k);
    order::segment<T> part{range.begin, range.end};
    if (range.blocks() != 0) r.queue().download(part.value.data(), values[k], values[k].bytes);
    order::append<Op>(all, part);
  }
  return order::canonical(result_of<T, Op>(p, order::fold<Op>(all)));
}

template <class T>
std::vector<block_place> places_of(const memory& x, const rank& r, std::span<const memory> values) {
  std::vector<block_place> all;
  for (unsigned k = 0; k < r.count(); ++k) {
    const element_range range = elements_of<T>(x, k);
    std::uint64_t at = 0;
    order::for_each_block(range.begin, range.end, [&](std::uint64_t, unsigned level) {
      all.push_back({values[k].at(at, sizeof(T)), level});
      at += sizeof(T);
    });
  }
  return all;
}

template <class Op, class T>
void write_result(const registry::problem& p, const registry::bindings& where, const rank& r,
                  std::span<const memory> values) {
#if TILEWISE_WITH_CUDA
  if (r.queue().device().info().backend == "cuda") {
    const std::vector<block_place> blocks = places_of<T>(where.in[0], r, values);
    const memory result = local(where.out[0], r.index(), r.part(where.out[0]));
    if (!blocks.empty() && blocks.size() <= most_block_places) return fold_blocks_on_cuda(p, blocks, result, r.queue());
  }
#endif
  const T value = fold_on_host<Op, T>(p, where.in[0], r, values);
  r.store(where.out[0], 0, &value, sizeof value);
}

template <class Op, class T>
void reduce_part(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const auto bytes_of = [&](unsigned k) { return elements_of<T>(where.in[0], k).blocks() * sizeof(T); };
  const auto has_result = [&](unsigned k) { return part_of(where.out[0], k).bytes() != 0; };
  const buffer own(r.queue(), bytes_of(r.index()));
  write_block_values<Op, T>(where.in[0], r, own);
  std::vector<parcel> sends;
  std::vector<demand> receives;
  for (unsigned peer = 0; peer < r.count(); ++peer) {
    if (peer == r.index()) continue;
    if (has_result(peer) && bytes_of(r.index()) != 0) sends.push_back({peer, own});
    if (has_result(r.index()) && bytes_of(peer) != 0) receives.push_back({peer, bytes_of(peer)});
  }
  const loan lent = r.borrow(sends, receives);
  if (has_result(r.index())) {
    std::vector<memory> values(r.count());
    values[r.index()] = own;
    for (std::size_t i = 0; i < receives.size(); ++i) values[receives[i].peer] = lent.at(i);
    write_result<Op, T>(p, where, r, values);
  }
  r.give_back();
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      divide::run_on_ranks(queue, p, where, [&](const rank& r) { reduce_part<Op, T>(p, where, r); });
    });
  });
}

}  // namespace

std::vector<registry::variant> reduce_group_variants() {
  return {{.algorithm = "reduce",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "block values of each rank's part, folded in the order where the result lies",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::reduce
