// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis on the ranks of a group.
// Order:  rows: one rank reduces each row, by its own variant; a few long rows are reductions of the group. Columns:
//         the rows that begin on a rank are blocks of the order, whose values are folded in order of position.
// Shape:  rows: the rank on which a row begins reduces it, and fetches the rest of a row that a border cuts. Columns:
//         each rank reduces every block of its rows to one row of values. Then a rank gets the values of the columns
//         whose results it has, and folds them two rows at a time, as matrices of two rows. If these values are hardly
//         fewer than the elements, each rank fetches a band of columns instead.
// Limits: those of the members' variants.
// Twins:  serial.cpp; reduce/group.cpp, where rows are few.
#include "divide/rank_lines.hpp"
#include "order/segment.hpp"
#include "reduce/problem.hpp"
#include "reduce_axis/problem.hpp"

#include <deque>

namespace tilewise::impl::reduce_axis {

namespace {

using backend::buffer;
using backend::memory;
using backend::group::block;
using backend::group::byte_range;
using backend::group::matrix;
using backend::group::parcel;
using backend::group::part_of;
using backend::group::rank_block;
using backend::group::rank_memory;
using divide::own_rows;
using divide::rank;
using registry::problem;

registry::problem reduction_of_line(const problem& p) {
  problem line = p;
  line.what = &reduce::reduce_algorithm();
  line.shape = {lines_of(p).length};
  line.setting[axis_setting] = 0;
  return line;
}

/// The matrix of the results, one for each line.
matrix_layout layout_of_values(const problem& p) {
  const std::uint64_t count = lines_of(p).count;
  return axis_of(p) == axis::rows ? matrix_layout(count, 1) : matrix_layout(1, count);
}

problem of_matrix(const problem& p, const matrix_layout& from, const matrix_layout&) {
  problem other = p;
  other.shape = {from.rows, from.columns};
  if (!registry::is_packed(from)) other.shape = {from.rows, from.columns, from.stride};
  return other;
}

/// 2^level rows from `first` on, which are a block of the order.
struct row_block {
  std::uint64_t first;
  unsigned level;
};

/// The blocks of the rows that begin on each rank: the blocks of its whole rows, and a cut row as a separate block.
class blocks_of_ranks {
 public:
  blocks_of_ranks(const matrix& a, const matrix_layout& of, std::uint64_t width, unsigned ranks) {
    for (unsigned k = 0; k < ranks; ++k) {
      const own_rows rows = divide::rows_that_begin_on(k, a, of.rows, width);
      first_.push_back(all_.size());
      order::for_each_block(rows.begin, rows.whole, [&](std::uint64_t row, unsigned level) {
        all_.push_back({row, level});
      });
      if (rows.has_cut_row()) all_.push_back({rows.whole, 0});
    }
    first_.push_back(all_.size());
  }

  const std::vector<row_block>& all() const { return all_; }
  std::uint64_t first_of(unsigned rank) const { return first_[rank]; }
  std::uint64_t count_of(unsigned rank) const { return first_[rank + 1] - first_[rank]; }

 private:
  std::vector<row_block> all_;
  std::vector<std::uint64_t> first_;
};

/// The values of consecutive blocks in the memory of one rank: one row of `columns` values for each block.
struct value_rows {
  const rank& r;
  const problem& p;
  std::uint64_t columns;
  memory where;

  std::uint64_t row_bytes() const { return columns * size_of(p.type); }
  memory rows(std::uint64_t first, std::uint64_t count) const {
    return where.at(first * row_bytes(), count * row_bytes());
  }

  /// Combines rows a and b by the operator, or reduces row a alone if a == b.
  void apply(std::uint64_t a, std::uint64_t b, bool with_init, const memory& to) const {
    const matrix_layout both = a == b ? matrix_layout(1, columns) : matrix_layout(2, columns, (b - a) * columns);
    problem pair = of_matrix(p, both, both);
    if (!with_init) pair.setting[init_setting] = 0;
    divide::run_on_rank(r, pair, {{rows(a, b - a + 1)}, {to}});
  }

  /// Combines rows a and b into row a.
  void merge(std::uint64_t a, std::uint64_t b, const memory& scratch) const {
    apply(a, b, false, scratch);
    r.queue().copy(rows(a, 1), scratch, row_bytes());
  }
};

/// Folds the values of all blocks, which follow one another from row 0 of the matrix on. The two halves of a block are
/// merged as soon as both are known; the remaining blocks are folded from the left. The last step writes the results.
void fold(const value_rows& values, std::span<const row_block> blocks, const memory& results) {
  const buffer scratch(values.r.queue(), values.row_bytes());
  struct entry {
    std::uint64_t row;
    unsigned level;
  };
  std::vector<entry> stack;
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    const std::size_t kept = i + 1 == blocks.size() ? 2 : 1;
    stack.push_back({i, blocks[i].level});
    while (stack.size() > kept && stack.back().level == stack[stack.size() - 2].level) {
      const std::uint64_t right = stack.back().row;
      stack.pop_back();
      values.merge(stack.back().row, right, scratch);
      ++stack.back().level;
    }
  }
  for (std::size_t i = 1; i + 1 < stack.size(); ++i) values.merge(0, stack[i].row, scratch);
  values.apply(0, stack.back().row, true, results);
}

/// The columns of a matrix that is cut into rows, so that each column extends over all ranks.
class columns_of_ranks {
 public:
  columns_of_ranks(const problem& p, const registry::bindings& where, const rank& r, const blocks_of_ranks& blocks)
      : problem_(p),
        rank_(r),
        layout_(layout_of(p)),
        size_(size_of(p.type)),
        a_{where.in[0], layout_.stride * size_},
        values_(where.out[0]),
        blocks_(blocks) {}

  void reduce() const {
    const buffer own(rank_.queue(), blocks_.count_of(rank_.index()) * row_bytes());
    reduce_blocks(own);
    const byte_range mine = columns_on(rank_.index());
    const buffer gathered(rank_.queue(), blocks_.all().size() * mine.bytes());
    gather(own, gathered);
    if (mine.bytes() == 0) return;
    fold({rank_, problem_, mine.bytes() / size_, gathered}, blocks_.all(), local(values_, rank_.index(), mine));
  }

 private:
  std::uint64_t row_bytes() const { return layout_.columns * size_; }
  /// The columns of the results that lie on `rank`, as a byte range of a row of values.
  byte_range columns_on(unsigned rank) const { return common({0, row_bytes()}, part_of(values_, rank)); }

  /// Writes a row of values for each block of this rank.
  void reduce_blocks(const memory& to) const {
    const auto rows_of = [this](unsigned k) { return divide::rows_that_begin_on(k, a_, layout_.rows, row_bytes()); };
    const own_rows rows = rows_of(rank_.index());
    const rank_block cut = fetch(rank_, a_, [&](unsigned k) {
      const own_rows of = rows_of(k);
      return block{of.whole, of.end - of.whole, 0, row_bytes()};
    });
    const std::uint64_t first = blocks_.first_of(rank_.index());
    for (std::uint64_t i = 0; i < blocks_.count_of(rank_.index()); ++i) {
      const auto [row, level] = blocks_.all()[first + i];
      const matrix_layout of(std::uint64_t{1} << level, layout_.columns, layout_.stride);
      const byte_range there{row * a_.stride, row * a_.stride + registry::elements_of(of) * size_};
      const memory in = row == rows.whole ? memory(cut.where) : local(a_.where, rank_.index(), there);
      problem part = of_matrix(problem_, of, of);
      part.setting[init_setting] = 0;
      divide::run_on_rank(rank_, part, {{in}, {to.at(i * row_bytes(), row_bytes())}});
    }
  }

  /// Collects the values of this rank's columns from all ranks; `own` are the values of this rank. All ranks must call
  /// it together.
  void gather(const memory& own, const memory& to) const {
    const std::uint64_t count = blocks_.count_of(rank_.index()), width = columns_on(rank_.index()).bytes();
    std::vector<parcel> sends, receives;
    std::deque<buffer> packed;
    for (unsigned peer = 0; peer < rank_.count(); ++peer) {
      const byte_range theirs = columns_on(peer);
      const memory block = to.at(blocks_.first_of(peer) * width, blocks_.count_of(peer) * width);
      if (peer != rank_.index() && block.bytes != 0) receives.push_back({peer, block});
      if (count * theirs.bytes() == 0) continue;
      const memory sent = peer == rank_.index() ? block : packed.emplace_back(rank_.queue(), count * theirs.bytes());
      rank_.queue().copy_rows(sent, theirs.bytes(), own.at(theirs.begin, 0), row_bytes(), theirs.bytes(), count);
      if (peer != rank_.index()) sends.push_back({peer, sent});
    }
    rank_.exchange(sends, receives);
  }

  const problem& problem_;
  const rank& rank_;
  matrix_layout layout_;
  std::uint64_t size_;
  matrix a_;
  memory values_;
  const blocks_of_ranks& blocks_;
};

void reduce_on_rank(const problem& p, const registry::bindings& where, const rank& r) {
  const matrix_layout from = layout_of(p);
  if (axis_of(p) == axis::columns && registry::elements_of(from) != 0) {
    constexpr std::uint64_t rows_for_a_block = 4;  // a row of values costs more: it is sent, and also written and read
    const std::uint64_t size = size_of(p.type);
    const blocks_of_ranks blocks({where.in[0], from.stride * size}, from, from.columns * size, r.count());
    if (blocks.all().size() * rows_for_a_block <= from.rows) return columns_of_ranks(p, where, r, blocks).reduce();
  }
  divide::run_lines(r, {p, axis_of(p), from, layout_of_values(p), of_matrix}, where);
}

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  divide::share_lines(p, reduction_of_line(p), lines_of(p), {layout_of_values(p), axis_of(p)}, where, queue,
                      [&](const rank& r) { reduce_on_rank(p, where, r); });
}

}  // namespace

std::vector<registry::variant> reduce_axis_group_variants() {
  return {{.algorithm = "reduce_axis",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "rows where they begin; of columns the values of blocks of rows, folded in the order where the "
                     "results lie",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::reduce_axis
