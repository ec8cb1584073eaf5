// SPDX-License-Identifier: Apache-2.0
// Merges of sorted runs, one function for each backend.
#pragma once

#include "registry/variant.hpp"

#include <span>

namespace tilewise::impl::sort {

/// Merges the sorted runs in `where.in` to `where.out`. Run i is [border[i], border[i + 1]); there are at least two,
/// and none is empty. Where codes are equal, those of the earlier run come first. Overwrites the input. If the payload
/// is indices, they move as values.
using runs_merger = void(const registry::problem& p, const registry::bindings& where,
                         std::span<const std::uint64_t> border, backend::queue& queue);

runs_merger merge_runs_on_cpu;
runs_merger merge_runs_on_opencl;

/// A sorted run that is not empty.
struct sorted_place {
  backend::memory keys, values;  // no values where none move
  std::uint64_t n;
};
/// A cut through up to 4 runs: how many elements of each run are among the first of the merged runs.
using cut = std::array<std::uint64_t, 4>;

/// Where the merged output is cut into pieces if some runs must be copied from another device. A piece is merged while
/// the next ones are copied. The first pieces are short because the merge waits for them; the last ones are short
/// because nothing is copied while they are merged. Each piece costs the host 25 us, so short outputs have few.
inline std::vector<std::uint64_t> borders_of_pieces(std::uint64_t n) {
  constexpr std::uint64_t least = std::uint64_t{1} << 22, many = std::uint64_t{1} << 25;
  if (n < least) return {0, n};
  if (n < many) return {0, n / 4 * 3, n};
  const std::uint64_t part = n / 24;
  return {0, part, 2 * part, 4 * part, 8 * part, 12 * part, 16 * part, 20 * part, 22 * part, 23 * part, n};
}
inline constexpr std::size_t most_borders = 11;

/// Merges runs that lie anywhere the device can read, and does not change them. Of `where`, only `out` is used.
/// `pieces` are the cuts at borders_of_pieces, if the caller knows them.
void merge_runs_on_cuda(const registry::problem& p, std::span<const sorted_place> runs, const registry::bindings& where,
                        backend::queue& q, std::span<const cut> pieces = {});
/// Returns the cuts of up to 4 runs after the first after[i] merged elements, for each i; at most `most_borders` cuts.
/// The device reads only a few elements of each run. Waits for the result.
std::vector<cut> cuts_on_cuda(const registry::problem& p, std::span<const sorted_place> runs,
                              std::span<const std::uint64_t> after, backend::queue& q);

/// Where each run begins if the runs lie one after the other, and the end of the last.
inline std::vector<std::uint64_t> borders_of(std::span<const sorted_place> runs) {
  std::vector<std::uint64_t> border{0};
  for (const sorted_place& run : runs) border.push_back(border.back() + run.n);
  return border;
}

/// The borders after each `ways` neighbouring runs have been merged into one: every `ways`-th border.
inline std::vector<std::uint64_t> merged_borders(std::span<const std::uint64_t> border, std::size_t ways) {
  std::vector<std::uint64_t> merged;
  for (std::size_t i = 0; i + 1 < border.size(); i += ways) merged.push_back(border[i]);
  merged.push_back(border.back());
  return merged;
}

/// How many rounds merge `runs` runs into one, if each round merges `ways` of them at a time.
constexpr unsigned rounds_of(std::size_t runs, std::size_t ways) {
  unsigned rounds = 0;
  for (; runs > 1; runs = (runs + ways - 1) / ways) ++rounds;
  return rounds;
}

}  // namespace tilewise::impl::sort
