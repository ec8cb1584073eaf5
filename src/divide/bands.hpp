// SPDX-License-Identifier: Apache-2.0
// Stencils on a group: a row of the result depends on nearby rows of the input, and each rank computes a band of rows.
#pragma once

#include "divide/ranks.hpp"

namespace tilewise::divide {

/// Row i of the result depends on the input's rows [i - above, i + below], as far as they exist. If `n` rows are cut
/// out of the input, computing with them gives n - (rows - results) result rows; those whose neighbours were cut off
/// are wrong.
struct row_stencil {
  std::uint64_t rows, row_bytes;            // of the input
  std::uint64_t results, result_row_bytes;  // of the result
  std::uint64_t above, below;
};

/// The bytes of the input that a rank holds, and the rows of the result that it computes.
struct band {
  backend::group::byte_range held;
  row_range wanted;
};

/// Computes the result rows that the input's rows `from` give.
using band_work = std::function<void(row_range from, const backend::memory& in, const backend::memory& out)>;

/// Collective: each rank computes its rows, all[r.index()].wanted, into `result`, from its own `held` bytes and those
/// of other ranks. It computes most rows directly from its own bytes and gathers only the rows near a border.
void run_band(const rank& r, const row_stencil& s, std::span<const band> all, const backend::memory& held,
              const backend::memory& result, const band_work& work);

/// A rank's rows with up to `halo` more above and below, within the `rows` rows of the whole. Empty if the rank has no
/// rows.
row_range with_halo(row_range own, std::uint64_t halo, std::uint64_t rows);

/// Collective: fills the halo rows in `padded`, which lie above and below the rank's own rows, all[r.index()].
void fill_halos(const rank& r, std::uint64_t rows, std::uint64_t row_bytes, std::span<const band> all,
                std::uint64_t halo, const backend::memory& padded);

}  // namespace tilewise::divide
