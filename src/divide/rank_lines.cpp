// SPDX-License-Identifier: Apache-2.0
#include "divide/rank_lines.hpp"

#include "divide/each_line.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tilewise::divide {

using backend::group::block;
using backend::group::byte_range;
using backend::group::matrix;
using backend::group::part_of;
using backend::group::rank_block;

namespace {

/// Divides the columns in proportion to the bytes of the matrix that each rank holds, so that a rank that holds all of
/// it computes all columns. Returns where each rank's columns begin, followed by the number of columns.
std::vector<std::uint64_t> borders_of_columns(const rank& r, const matrix& of, byte_range all, std::uint64_t columns) {
  const auto bits = static_cast<unsigned>(std::bit_width(all.bytes()));
  backend::group::shares held;
  for (unsigned k = 0; k < r.count(); ++k)
    held.push_back(common(all, part_of(of.where, k)).bytes() >> (bits > 32 ? bits - 32 : 0));
  return backend::group::borders_of_shares(columns, 1, held);
}

class lines_of_rank {
 public:
  lines_of_rank(const rank& r, const line_problem& p, const bindings& where)
      : rank_(r),
        problem_(p),
        size_(size_of(p.whole.type)),
        in_{where.in[0], p.from.stride * size_},
        out_{where.out[0], p.to.stride * size_} {}

  void run() const {
    if (problem_.which == axis::columns)
      run_columns();
    else
      run_rows();
  }

 private:
  /// The work is dealt by the input's shards if the input has elements. It may have none: rows of length 0 with one
  /// result each.
  bool is_dealt_by_input() const { return registry::elements_of(problem_.from) != 0; }
  const matrix& dealt() const { return is_dealt_by_input() ? in_ : out_; }
  const matrix_layout& layout_of_dealt() const { return is_dealt_by_input() ? problem_.from : problem_.to; }

  void run_columns() const {
    const byte_range all{0, registry::elements_of(layout_of_dealt()) * size_};
    const std::uint64_t columns = all.bytes() == 0 ? 0 : problem_.from.columns;
    const std::vector<std::uint64_t> border = borders_of_columns(rank_, dealt(), all, columns);
    compute([&](unsigned k) { return row_range{border[k], border[k + 1]}; });
  }

  own_rows rows_on(unsigned rank) const {
    const matrix_layout& of = layout_of_dealt();
    return rows_that_begin_on(rank, dealt(), of.rows, of.columns * size_);
  }

  /// Complete rows are read in place. For a row that is cut between ranks, only the missing rest is sent.
  void run_rows() const {
    compute([this](unsigned k) {
      const own_rows whole = rows_on(k);
      return row_range{whole.begin, whole.whole};
    });
    for (unsigned k = 0; k < rank_.count(); ++k)
      if (rows_on(k).has_cut_row())
        return compute([this](unsigned rank) {
          const own_rows of = rows_on(rank);
          return row_range{of.whole, of.end};
        });
  }

  /// Collective: computes the lines that of_rank(k) gives to each rank k.
  template <class Lines>
  void compute(const Lines& of_rank) const {
    const auto blocks_of = [&](const matrix_layout& of) {
      return [&](unsigned k) { return block_of(of, of_rank(k)); };
    };
    const block taken = blocks_of(problem_.from)(rank_.index()), made = blocks_of(problem_.to)(rank_.index());
    rank_block in = fetch(rank_, in_, blocks_of(problem_.from));
    const backend::memory input = in.where;
    const matrix_layout from = layout_of(taken, in.stride);
    const bool in_place = in.where.is_own() && problem_.whole.what->in_place;
    const rank_block out = in_place ? std::move(in) : result(rank_, out_, made);
    if (made.bytes() != 0)
      run_on_rank(rank_, problem_.of_part(problem_.whole, from, layout_of(made, out.stride)), {{input}, {out.where}});
    deliver(rank_, out_, blocks_of(problem_.to), out);
  }

  block block_of(const matrix_layout& of, row_range lines) const {
    if (problem_.which == axis::rows) return {lines.begin, lines.size(), 0, of.columns * size_};
    return {0, of.rows, lines.begin * size_, lines.size() * size_};
  }
  matrix_layout layout_of(const block& b, std::uint64_t stride) const {
    return {b.rows, b.width / size_, std::max<std::uint64_t>(1, stride / size_)};
  }

  const rank& rank_;
  const line_problem& problem_;
  std::uint64_t size_;
  matrix in_, out_;
};

}  // namespace

void share_lines(const problem& p, const problem& of_line, const lines& from, const lines& to, const bindings& where,
                 backend::queue& group, const std::function<void(const rank&)>& work) {
  if (from.count == 0 || to.length == 0) return;
  const bool several_each = from.count <= backend::group::enter(group).ranks() / 2;
  if (several_each && from.element == 1 && to.element == 1) return run_each_line(of_line, from, to, where, group);
  run_on_ranks(group, p, where, work);
}

void run_lines(const rank& r, const line_problem& p, const bindings& where) { lines_of_rank(r, p, where).run(); }

own_rows rows_that_begin_on(unsigned rank, const matrix& of, std::uint64_t rows, std::uint64_t width) {
  const byte_range part = part_of(of.where, rank);
  const row_range own = rows_in(part, of.stride, rows);
  const bool is_cut = own.size() != 0 && part.end < (own.end - 1) * of.stride + width;
  return {own.begin, own.end - (is_cut ? 1 : 0), own.end};
}

}  // namespace tilewise::divide
