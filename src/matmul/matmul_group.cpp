// SPDX-License-Identifier: Apache-2.0
// What:   matmul on the ranks of a group.
// Order:  no product is cut along k, so each element is one chain on one rank.
// Shape:  a grid of ranks. Those of one row of the grid compute the rows of C that lie on them, or whose rows of A do;
//         each takes its share of the columns. It gets its rows of A once, and its columns of B in panels.
// Limits: those of the members' variants; its rows of A and a panel of B on each device.
// Twins:  matmul_pieces.cpp, where the blocks of C pass through one device.
#include "backend/group/group_matrix.hpp"
#include "backend/group/group_shares.hpp"
#include "base/ceil_div.hpp"
#include "matmul/matmul_problem.hpp"
#include "registry/pieces.hpp"
#include "registry/ranks.hpp"

namespace tilewise::impl::matmul {

namespace {

using backend::memory;
using backend::group::block;
using backend::group::byte_range;
using backend::group::matrix;
using backend::group::rank_block;
using registry::rank;

struct grid {
  unsigned rows, columns;
};

/// About how long the slowest rank takes, in multiply-adds.
double cost_of(const grid& g, const sizes& s) {
  constexpr double while_one_travels = 256;  // an H200's, of floats, while a float comes over NVLink
  const auto m = static_cast<double>(ceil_div(s.m, g.rows)), n = static_cast<double>(ceil_div(s.n, g.columns)),
             k = static_cast<double>(s.k);
  const double of_a = 1.0 - 1.0 / g.columns, of_b = 1.0 - 1.0 / (g.rows * g.columns), of_c = of_a;
  return m * n * k + while_one_travels * (of_a * m * k + of_b * k * n + of_c * m * n);
}

/// Of all grids of so many ranks; of equals the one with the fewest columns, for which the least leaves its place.
grid best_grid(unsigned ranks, const sizes& s) {
  grid best{ranks, 1};
  for (unsigned columns = 2; columns <= ranks; ++columns)
    if (const grid g{ranks / columns, columns}; ranks % columns == 0 && cost_of(g, s) < cost_of(best, s)) best = g;
  return best;
}

/// Rows or columns.
struct lines {
  std::uint64_t first, last;

  std::uint64_t count() const { return last - first; }
};

/// What one rank computes of C, and in how many panels of columns.
class share {
 public:
  share(const rank& r, const sizes& s, const matrix& rows_lie_as, std::uint64_t element) {
    const grid g = r.all_gather(best_grid(r.count(), s)).front();
    const unsigned i = r.index() / g.columns, j = r.index() % g.columns;
    const std::uint64_t begin = r.part(rows_lie_as.where).begin;
    std::vector<std::uint64_t> first = r.all_gather(std::min(s.m, ceil_div(begin, rows_lie_as.stride)));
    first.push_back(s.m);
    rows_ = {first[i * g.columns], first[(i + 1) * g.columns]};
    const std::vector<std::uint64_t> border =
        backend::group::borders_of_shares(s.n, 1, backend::group::equal_shares(g.columns));
    columns_ = {border[j], border[j + 1]};
    panel_columns_ = columns_of_a_panel(r, s.k * element);
    for (std::uint64_t panels : r.all_gather(ceil_div(columns_.count(), panel_columns_)))
      panels_ = std::max(panels_, panels);
  }

  const lines& rows() const { return rows_; }
  std::uint64_t panels() const { return panels_; }  // equally many on all ranks; the last ones may be empty
  lines panel(std::uint64_t index) const {
    const std::uint64_t first = std::min(columns_.last, columns_.first + index * panel_columns_);
    return {first, std::min(columns_.last, first + panel_columns_)};
  }

 private:
  /// Ranks may share one memory.
  static std::uint64_t columns_of_a_panel(const rank& r, std::uint64_t column_bytes) {
    constexpr std::uint64_t granule = 128;  // columns that suit the kernels' tiles
    const std::uint64_t room = registry::share_of_memory(r.device().info(), 1, 4 * r.count());
    const std::uint64_t fit = std::max<std::uint64_t>(1, room / std::max<std::uint64_t>(1, column_bytes));
    return fit > granule ? fit / granule * granule : fit;
  }

  lines rows_, columns_;
  std::uint64_t panel_columns_, panels_ = 0;
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
  registry::run_on_rank(r, part, where);
}

void multiply_share(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const sizes s(p);
  const std::uint64_t element = size_of(p.type);
  const matrix a{where.in[0], s.lda * element}, b{where.in[1], s.ldb * element}, c{where.out[0], s.ldc * element};
  const share mine(r, s, s.k >= s.n ? a : c, element);
  const auto [row, last_row] = mine.rows();
  const std::uint64_t rows = last_row - row;
  const rank_block rows_of_a = fetch(r, a, {row, rows, 0, s.k * element});
  for (std::uint64_t i = 0; i < mine.panels(); ++i) {
    const lines columns = mine.panel(i);
    const std::uint64_t first = columns.first * element, width = columns.count() * element;
    const rank_block panel_of_b = fetch(r, b, {0, rows == 0 ? 0 : s.k, first, width});
    const block of_c{row, rows, first, width};
    const rank_block computed = result(r, c, of_c);
    multiply_on_rank(r, p, rows_of_a, panel_of_b, computed, rows, columns.count());
    deliver(r, c, of_c, computed);
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  if (sizes(p).m == 0 || sizes(p).n == 0) return;
  backend::group::enter(queue).on_each_rank([&](const rank& r) { multiply_share(p, where, r); });
}

}  // namespace

std::vector<registry::variant> matmul_group_variants() {
  return {{.algorithm = "matmul",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "a grid of ranks: van de Geijn and Watts, SUMMA, Concurrency: Practice and Experience 9 (1997); "
                     "here with all of k in each step",
           .unsupported = registry::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::matmul
