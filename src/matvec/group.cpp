// SPDX-License-Identifier: Apache-2.0
// What:   matvec on the ranks of a group.
// Order:  a rank computes the rows that it has whole. If a row lies on several ranks, each computes the values of the
//         aligned blocks of its products; all of them are folded in order of position, as in reduce/group.cpp.
// Shape:  A stays in place, however it is cut. Each rank gets the part of x that it needs, and sends the block values
//         of at most two rows to all ranks.
// Limits: those of the members' variants.
// Twins:  serial.cpp.
#include "divide/ranks.hpp"
#include "matvec/problem.hpp"
#include "order/segment.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise::impl::matvec {

namespace {

using backend::memory;
using backend::group::byte_range;
using backend::group::rank_memory;
using divide::rank;

struct position {
  std::uint64_t row, column;
};

/// The position of the first element of A at or after `at`, which may be in a gap between two rows.
position position_of(std::uint64_t at, const sizes& s) {
  const std::uint64_t row = at / s.lda, column = at % s.lda;
  return column < s.n ? position{row, column} : position{row + 1, 0};
}

/// Columns [begin, end) of a row. Other ranks have the other columns.
struct row_part {
  std::uint64_t row = 0, begin = 0, end = 0;
};

/// The part of A that a rank has: the end of a row, whole rows, and the beginning of one more. If it has only the
/// middle of one row, this is `head`.
struct share {
  row_part head, tail;
  std::uint64_t first, last;  // the whole rows
  std::uint64_t origin;       // the index in A of the first element

  share(std::uint64_t begin, std::uint64_t end, const sizes& s) : origin(begin) {
    const position from = position_of(begin, s), to = position_of(end, s);
    first = from.row + (from.column == 0 ? 0 : 1);
    last = std::max(first, to.row);
    const bool in_one_row = from.row == to.row;
    if (in_one_row || from.column != 0) head = {from.row, from.column, in_one_row ? to.column : s.n};
    if (!in_one_row) tail = {to.row, 0, to.column};
  }

  bool has_part_of_row() const { return head.begin != head.end || tail.begin != tail.end; }
  /// The columns of x that the rank needs.
  byte_range columns(const sizes& s) const {
    if (first != last) return {0, s.n};
    if (head.begin == head.end) return {tail.begin, tail.end};
    if (tail.begin == tail.end) return {head.begin, head.end};
    return {0, s.n};  // the head ends where its row does, and the tail begins where its row does
  }
};

/// The block values of a part of a row.
template <class T>
struct cut_row {
  std::uint64_t row;
  order::segment<T> blocks;
};

/// A rank's work on its own part of A.
template <class T>
class local_product {
 public:
  local_product(const registry::problem& p, const rank& r, const share& mine, const memory& a, const memory& x,
                std::uint64_t first_column)
      : problem_(p), rank_(r), share_(mine), a_(a), x_(x), first_column_(first_column) {}

  void whole_rows(const memory& y) const {
    if (share_.first != share_.last) multiply(share_.first, share_.last - share_.first, 0, sizes(problem_).n, y);
  }

  /// The block values of a part of a row. Waits for the work that is enqueued so far.
  cut_row<T> blocks_of(const row_part& part) const {
    cut_row<T> result{part.row, {part.begin, part.end}};
    const std::uint64_t bytes = order::block_count(part.begin, part.end) * sizeof(T);
    if (bytes == 0) return result;
    const backend::buffer values(rank_.queue(), bytes);
    std::uint64_t at = 0;
    order::for_each_block(part.begin, part.end, [&](std::uint64_t column, unsigned level) {
      multiply(part.row, 1, column, std::uint64_t{1} << level, memory(values).at(at, sizeof(T)));
      at += sizeof(T);
    });
    rank_.queue().download(result.blocks.value.data(), values, bytes);
    return result;
  }

 private:
  void multiply(std::uint64_t row, std::uint64_t rows, std::uint64_t column, std::uint64_t columns,
                const memory& y) const {
    const std::uint64_t stride = sizes(problem_).lda;
    registry::problem part = problem_;
    part.shape = {rows, columns, stride};
    registry::bindings where;
    where.in = {a_.at((row * stride + column - share_.origin) * sizeof(T),
                      registry::elements_of({rows, columns, stride}) * sizeof(T)),
                x_.at((column - first_column_) * sizeof(T), columns * sizeof(T))};
    where.out[0] = y;
    divide::run_on_rank(rank_, part, where);
  }

  const registry::problem& problem_;
  const rank& rank_;
  const share& share_;
  memory a_, x_;
  std::uint64_t first_column_;
};

/// Folds the parts of a row in order of rank, from the one that has its first column to the one that has its last.
template <class T>
void store_cut_rows(const rank& r, const std::array<cut_row<T>, 2>& mine, std::uint64_t columns, const memory& y) {
  order::segment<T> row;
  for (const auto& of_rank : r.all_gather(mine))
    for (const cut_row<T>& part : of_rank) {
      if (part.blocks.begin == part.blocks.end) continue;
      if (part.blocks.begin == 0) row = {};
      order::append<order::sum>(row, part.blocks);
      if (row.end != columns) continue;
      const T value = order::canonical(order::fold<order::sum>(row));
      r.store(y, part.row * sizeof(T), &value, sizeof value);
    }
}

template <class ShareOf>
bool are_rows_cut(const ShareOf& share_of, unsigned ranks) {
  for (unsigned k = 0; k < ranks; ++k)
    if (share_of(k).has_part_of_row()) return true;
  return false;
}

template <class T>
void multiply_part(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const sizes s(p);
  const byte_range all{0, registry::elements_of({s.m, s.n, s.lda}) * sizeof(T)};  // of an array that may have more
  const auto part_of = [&](unsigned k) { return common(all, backend::group::part_of(where.in[0], k)); };
  const auto share_of = [&](unsigned k) { return share(part_of(k).begin / sizeof(T), part_of(k).end / sizeof(T), s); };
  const auto in_bytes = [](byte_range of) { return byte_range{of.begin * sizeof(T), of.end * sizeof(T)}; };
  const rank_memory x = r.fetch(where.in[1], [&](unsigned k) { return in_bytes(share_of(k).columns(s)); });
  const auto rows = [&](unsigned k) { return in_bytes({share_of(k).first, share_of(k).last}); };
  const rank_memory y = r.result(where.out[0], rows(r.index()));
  const share mine = share_of(r.index());
  const local_product<T> product(p, r, mine, local(where.in[0], r.index(), part_of(r.index())), x,
                                 mine.columns(s).begin);
  product.whole_rows(y);
  if (are_rows_cut(share_of, r.count()))
    store_cut_rows<T>(r, {product.blocks_of(mine.head), product.blocks_of(mine.tail)}, s.n, where.out[0]);
  r.deliver(where.out[0], rows, y);
}

/// Writes the result of empty rows, which is 0 in every type.
void clear(const memory& y, const rank& r) {
  const std::vector<std::byte> zeros(r.part(y).bytes());
  r.store(y, r.part(y).begin, zeros.data(), zeros.size());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    divide::run_on_ranks(queue, p, where, [&](const rank& r) {
      const sizes s(p);
      if (s.m == 0) return;  // rows that are not there may be any number of elements apart, 0 too
      if (s.n == 0)
        clear(where.out[0], r);
      else
        multiply_part<T>(p, where, r);
    });
  });
}

}  // namespace

std::vector<registry::variant> matvec_group_variants() {
  return {{.algorithm = "matvec",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "rows where they lie; of rows that are cut, block values, folded by all in the order",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::matvec
