// SPDX-License-Identifier: Apache-2.0
// What:   convolution on the ranks of a group, each with a band of rows of the result.
// Order:  that of the members' variants: a result's chain is computed by one rank.
// Shape:  the mask is copied to all ranks. A rank computes most of its rows from its own part of the image, in place.
//         For the rows at its borders it first gathers rows from its neighbours.
// Limits: those of the members' variants.
// Twins:  pieces.cpp, whose bands pass through one device.
#include "convolve/problem.hpp"
#include "divide/bands.hpp"

namespace tilewise::impl::convolve {

namespace {

using backend::group::byte_range;
using backend::group::part_of;
using backend::group::rank_memory;
using divide::rank;
using divide::row_range;
using registry::problem;

void convolve_band(const problem& p, const registry::bindings& where, const rank& r) {
  const sizes s(p);
  const std::uint64_t size = size_of(p.type), row_of_y = s.result.columns * size;
  const divide::row_stencil stencil{.rows = s.image.rows,
                                    .row_bytes = s.image.columns * size,
                                    .results = s.result.rows,
                                    .result_row_bytes = row_of_y,
                                    .above = s.above,
                                    .below = s.mask.rows - 1 - s.above};
  std::vector<divide::band> all;
  for (unsigned i = 0; i < r.count(); ++i)
    all.push_back({part_of(where.in[0], i), divide::rows_in(part_of(where.out[0], i), row_of_y, stencil.results)});
  const auto own = [&](unsigned k) { return byte_range{all[k].wanted.begin * row_of_y, all[k].wanted.end * row_of_y}; };
  const rank_memory mask = r.fetch(where.in[1], [&](unsigned) {
    return byte_range{0, s.mask.rows * s.mask.columns * size};
  });
  const rank_memory y = r.result(where.out[0], own(r.index()));
  divide::run_band(r, stencil, all, local(where.in[0], r.index(), all[r.index()].held), y,
                   [&](row_range rows, const backend::memory& in, const backend::memory& out) {
                     problem band = p;
                     band.shape.size[0] = rows.size();
                     divide::run_on_rank(r, band, {{in, mask}, {out}});
                   });
  r.deliver(where.out[0], own, y);
}

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  divide::run_on_ranks(queue, p, where, [&](const rank& r) { convolve_band(p, where, r); });
}

}  // namespace

std::vector<registry::variant> convolve_group_variants() {
  return {{.algorithm = "convolve",
           .backend = "group",
           .name = "",
           .types = float_types,
           .source = "bands of rows of the result, each rank's from its own part and its neighbours' rows",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::convolve
