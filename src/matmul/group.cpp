// SPDX-License-Identifier: Apache-2.0
// What:   matmul on the ranks of a group.
// Order:  no product is cut along k, so each element is one chain on one rank.
// Shape:  a grid of ranks. The ranks in one row of the grid hold some rows of C, or of A; they compute these rows of C,
//         and each takes a share of the columns. A rank gets its rows of A once, and its columns of B in panels.
// Limits: those of the members' variants; its rows of A and a panel of B on each device.
// Twins:  pieces.cpp, where the blocks of C pass through one device.
#include "backend/group/matrix.hpp"
#include "backend/group/shares.hpp"
#include "base/ceil_div.hpp"
#include "divide/pieces.hpp"
#include "divide/ranks.hpp"
#include "matmul/problem.hpp"

namespace tilewise::impl::matmul {

namespace {

using backend::group::block;
using backend::group::matrix;
using backend::group::part_of;
using backend::group::rank_block;
using divide::rank;

struct grid {
  unsigned rows, columns;
};

/// An estimate of the slowest rank's time, in multiply-adds.
double cost_of(const grid& g, const sizes& s) {
  constexpr double while_one_travels = 256;  // float multiply-adds of an H200 while one float is sent over NVLink
  const auto m = static_cast<double>(ceil_div(s.m, g.rows)), n = static_cast<double>(ceil_div(s.n, g.columns)),
             k = static_cast<double>(s.k);
  const double of_a = 1.0 - 1.0 / g.columns, of_b = 1.0 - 1.0 / (g.rows * g.columns), of_c = of_a;
  return m * n * k + while_one_travels * (of_a * m * k + of_b * k * n + of_c * m * n);
}

/// The cheapest of all grids of `ranks` ranks. Among equals, the one with the fewest columns, which moves the least
/// data.
grid best_grid(unsigned ranks, const sizes& s) {
  grid best{ranks, 1};
  for (unsigned columns = 2; columns <= ranks; ++columns)
    if (const grid g{ranks / columns, columns}; ranks % columns == 0 && cost_of(g, s) < cost_of(best, s)) best = g;
  return best;
}

/// A range of rows or columns.
struct lines {
  std::uint64_t first, last;

  std::uint64_t count() const { return last - first; }
};

/// The part of C that each rank computes, and in how many panels of columns.
class shares {
 public:
  shares(const rank& r, const sizes& s, const matrix& rows_lie_as, std::uint64_t element)
      : grid_(best_grid(r.count(), s)),
        column_(backend::group::borders_of_shares(s.n, 1, backend::group::equal_shares(grid_.columns))),
        panel_columns_(r.all_gather(columns_of_a_panel(r, s.k * element))) {
    for (unsigned k = 0; k < r.count(); ++k)
      row_.push_back(std::min(s.m, ceil_div(part_of(rows_lie_as.where, k).begin, rows_lie_as.stride)));
    row_.push_back(s.m);
    for (unsigned k = 0; k < r.count(); ++k)
      panels_ = std::max(panels_, ceil_div(columns(k).count(), panel_columns_[k]));
  }

  lines rows(unsigned rank) const {
    const unsigned first = rank / grid_.columns * grid_.columns;
    return {row_[first], row_[first + grid_.columns]};
  }
  std::uint64_t panels() const { return panels_; }  // equally many on all ranks; the last ones may be empty
  lines panel(unsigned rank, std::uint64_t index) const {
    const lines all = columns(rank);
    const std::uint64_t first = std::min(all.last, all.first + index * panel_columns_[rank]);
    return {first, std::min(all.last, first + panel_columns_[rank])};
  }

 private:
  lines columns(unsigned rank) const {
    const unsigned j = rank % grid_.columns;
    return {column_[j], column_[j + 1]};
  }

  /// How many columns of B a panel has. Ranks may share one memory.
  static std::uint64_t columns_of_a_panel(const rank& r, std::uint64_t column_bytes) {
    constexpr std::uint64_t granule = 128;  // columns that suit the kernels' tiles
    const std::uint64_t room = divide::share_of_memory(r.device().info(), 1, 4 * r.count());
    const std::uint64_t fit = std::max<std::uint64_t>(1, room / std::max<std::uint64_t>(1, column_bytes));
    return fit > granule ? fit / granule * granule : fit;
  }

  grid grid_;
  std::vector<std::uint64_t> row_;     // the first row of each rank's part, and the end of the last
  std::vector<std::uint64_t> column_;  // the first column of each column of the grid, and the end of the last
  std::vector<std::uint64_t> panel_columns_;
  std::uint64_t panels_ = 0;
};

void multiply_on_rank(const rank& r, const registry::problem& p, const rank_block& a, const rank_block& b,
                      const rank_block& c, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t element = size_of(p.type);
  if (rows == 0 || columns == 0) return;
  registry::problem part = p;
  part.shape = {rows, columns, sizes(p).k, a.stride / element, b.stride / element, c.stride / element};
  registry::bindings where;
  where.in = {a.where, b.where};
  where.out[0] = c.where;
  divide::run_on_rank(r, part, where);
}

void multiply_share(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const sizes s(p);
  const std::uint64_t element = size_of(p.type);
  const matrix a{where.in[0], s.lda * element}, b{where.in[1], s.ldb * element}, c{where.out[0], s.ldc * element};
  const shares all(r, s, s.k >= s.n ? a : c, element);
  const rank_block rows_of_a = fetch(r, a, [&](unsigned k) {
    return block{all.rows(k).first, all.rows(k).count(), 0, s.k * element};
  });
  const std::uint64_t rows = all.rows(r.index()).count();
  for (std::uint64_t i = 0; i < all.panels(); ++i) {
    const auto of_c = [&](unsigned k) {
      const lines columns = all.panel(k, i);
      return block{all.rows(k).first, all.rows(k).count(), columns.first * element, columns.count() * element};
    };
    const auto of_b = [&](unsigned k) {
      const block made = of_c(k);
      return block{0, made.rows == 0 ? 0 : s.k, made.column, made.width};
    };
    const rank_block panel_of_b = fetch(r, b, of_b), computed = result(r, c, of_c(r.index()));
    multiply_on_rank(r, p, rows_of_a, panel_of_b, computed, rows, all.panel(r.index(), i).count());
    deliver(r, c, of_c, computed);
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  if (sizes(p).m == 0 || sizes(p).n == 0) return;
  divide::run_on_ranks(queue, p, where, [&](const rank& r) { multiply_share(p, where, r); });
}

}  // namespace

std::vector<registry::variant> matmul_group_variants() {
  return {{.algorithm = "matmul",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "a grid of ranks: van de Geijn and Watts, SUMMA, Concurrency: Practice and Experience 9 (1997); "
                     "here with all of k in each step",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::matmul
