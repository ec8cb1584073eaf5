// SPDX-License-Identifier: Apache-2.0
// Merges of sorted runs, one function for each backend.
#pragma once

#include "registry/variant.hpp"

#include <span>

namespace tilewise::impl::sort {

/// Sorts the elements of `where.in` to `where.out`: run i is [border[i], border[i + 1]), at least two of them, none
/// empty; of equal codes the earlier run's come first. The inputs are used up. A payload of indices moves as values.
using runs_merger = void(const registry::problem& p, const registry::bindings& where,
                         std::span<const std::uint64_t> border, backend::queue& queue);

runs_merger merge_runs_on_cpu;
runs_merger merge_runs_on_opencl;

/// A sorted run that is not empty.
struct sorted_place {
  backend::memory keys, values;  // no values where none move
  std::uint64_t n;
};
/// A place in each of some runs, in elements: of all that precede it the merged runs begin with.
using cut = std::array<std::uint64_t, 4>;

/// Where merged runs are cut into pieces if some of them have to come from another device: a piece is merged while
/// those after it are on their way, so the first ones, which are waited for, and the last ones, during whose merges
/// nothing travels, are short. Each costs the host 25 us, which only many elements are worth.
inline std::vector<std::uint64_t> borders_of_pieces(std::uint64_t n) {
  constexpr std::uint64_t least = std::uint64_t{1} << 22, many = std::uint64_t{1} << 25;
  if (n < least) return {0, n};
  if (n < many) return {0, n / 4 * 3, n};
  const std::uint64_t part = n / 24;
  return {0, part, 2 * part, 4 * part, 8 * part, 12 * part, 16 * part, 20 * part, 22 * part, 23 * part, n};
}
inline constexpr std::size_t most_borders = 11;

/// The same of runs that lie anywhere the device can read, and which are left as they are; only `where.out` is used.
/// `pieces` are the cuts at borders_of_pieces, if they are known.
void merge_runs_on_cuda(const registry::problem& p, std::span<const sorted_place> runs, const registry::bindings& where,
                        backend::queue& q, std::span<const cut> pieces = {});
/// Of up to 4 runs of which the device reads a little, the cuts after so many merged elements, at most `most_borders`.
/// Waits.
std::vector<cut> cuts_on_cuda(const registry::problem& p, std::span<const sorted_place> runs,
                              std::span<const std::uint64_t> after, backend::queue& q);

/// Where they begin in what they are merged to, and where that ends.
inline std::vector<std::uint64_t> borders_of(std::span<const sorted_place> runs) {
  std::vector<std::uint64_t> border{0};
  for (const sorted_place& run : runs) border.push_back(border.back() + run.n);
  return border;
}

/// Every `ways`-th border: those of the merged runs.
inline std::vector<std::uint64_t> merged_borders(std::span<const std::uint64_t> border, std::size_t ways) {
  std::vector<std::uint64_t> merged;
  for (std::size_t i = 0; i + 1 < border.size(); i += ways) merged.push_back(border[i]);
  merged.push_back(border.back());
  return merged;
}

/// Rounds that merge so many runs into one, `ways` at a time.
constexpr unsigned rounds_of(std::size_t runs, std::size_t ways) {
  unsigned rounds = 0;
  for (; runs > 1; runs = (runs + ways - 1) / ways) ++rounds;
  return rounds;
}

}  // namespace tilewise::impl::sort
