// SPDX-License-Identifier: Apache-2.0
#include "backend/group/shares.hpp"

#include "backend/backend.hpp"
#include "base/ceil_div.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>

namespace tilewise::backend::group {

shares shares_by_speed(const std::vector<double>& speeds) {
  constexpr double of_the_fastest = 1000;
  const double fastest = *std::max_element(speeds.begin(), speeds.end());
  shares made;
  for (const double speed : speeds)
    made.push_back(
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::lround(of_the_fastest * speed / fastest))));
  return made;
}

double copying_speed(backend::queue& q) {
  constexpr std::uint64_t most = 16 << 20;
  constexpr int times = 4;  // the first one also allocates the pages
  const std::uint64_t bytes = std::clamp<std::uint64_t>(q.device().info().memory / 128, 4096, most);
  const buffer from(q, bytes), to(q, bytes);
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < times; ++i) {
    q.finish();
    const auto begin = std::chrono::steady_clock::now();
    q.copy(to, from, bytes);
    q.finish();
    best = std::min(best, std::chrono::steady_clock::now() - begin);
  }
  return static_cast<double>(2 * bytes) / std::max(1e-9, std::chrono::duration<double>(best).count());
}

std::vector<std::uint64_t> borders_of_shares(std::uint64_t bytes, std::uint64_t row_bytes, const shares& of) {
  const std::uint64_t rows = ceil_div(bytes, row_bytes), all = std::accumulate(of.begin(), of.end(), std::uint64_t{0});
  const auto rows_of = [&](std::uint64_t share) { return rows / all * share + rows % all * share / all; };
  const std::uint64_t fewest = rows_of(*std::min_element(of.begin(), of.end()));
  const std::uint64_t granule = std::max<std::uint64_t>(1, std::bit_floor(fewest) / 32);
  std::vector<std::uint64_t> border{0};
  std::uint64_t before = 0;
  for (unsigned i = 0; i + 1 < of.size(); ++i) {
    before += of[i];
    border.push_back(std::min(bytes, (rows_of(before) + granule / 2) / granule * granule * row_bytes));
  }
  border.push_back(bytes);
  return border;
}

}  // namespace tilewise::backend::group
