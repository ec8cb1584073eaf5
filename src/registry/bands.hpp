// SPDX-License-Identifier: Apache-2.0
// Rows of a result that depend on the rows around them, on the ranks of a group: each rank computes a band of them.
#pragma once

#include "registry/ranks.hpp"

namespace tilewise::registry {

/// Row i of the result takes the input's rows [i - above, i + below], as far as there are any. An input that is cut
/// out of a larger one gives `rows - results` rows fewer than it has, as the whole one does, of which those that lack
/// neighbours are wrong.
struct row_stencil {
  std::uint64_t rows, row_bytes;            // of the input
  std::uint64_t results, result_row_bytes;  // of the result
  std::uint64_t above, below;
};

/// What a rank has of the input, in bytes, and the rows of the result that it computes.
struct band {
  backend::group::byte_range held;
  row_range wanted;
};

/// Computes what these rows of the input give.
using band_work = std::function<void(row_range from, const backend::memory& in, const backend::memory& out)>;

/// Together: each rank computes its rows, all[r.index()].wanted, into `result`, from its `held` bytes and the others'.
/// Most rows are computed from the rank's own where they lie; only rows at a border are gathered first.
void run_band(const rank& r, const row_stencil& s, std::span<const band> all, const backend::memory& held,
              const backend::memory& result, const band_work& work);

/// A rank's rows and those up to `halo` above and below them, of `rows` in all; none if it has none.
row_range with_halo(row_range own, std::uint64_t halo, std::uint64_t rows);

/// Together: fills the halos of each rank's rows, which lie between them in `padded`: its rows are all[r.index()].
void fill_halos(const rank& r, std::uint64_t rows, std::uint64_t row_bytes, std::span<const band> all,
                std::uint64_t halo, const backend::memory& padded);

}  // namespace tilewise::registry
