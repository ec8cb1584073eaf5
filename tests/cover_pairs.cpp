// SPDX-License-Identifier: Apache-2.0
#include "cover_pairs.hpp"

#include <algorithm>
#include <random>

namespace tilewise::tests {

std::vector<std::vector<unsigned>> cover_pairs(const std::vector<unsigned>& sizes) {
  const std::size_t count = sizes.size();
  std::vector<std::vector<bool>> covered(count * count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) covered[i * count + j].resize(std::size_t{sizes[i]} * sizes[j]);
  const auto pair = [&](std::size_t i, unsigned a, std::size_t j, unsigned b) {
    return covered[i * count + j][std::size_t{a} * sizes[j] + b];
  };
  std::mt19937_64 random(1);
  std::vector<std::vector<unsigned>> rows;
  const auto add_row = [&](std::size_t i, unsigned a, std::size_t j, unsigned b) {
    std::vector<unsigned> row(count);
    std::vector<std::size_t> chosen{i, j};
    row[i] = a;
    row[j] = b;
    for (std::size_t k = 0; k < count; ++k) {
      if (k == i || k == j) continue;
      long best = -1;
      for (int attempt = 0; attempt < 8; ++attempt) {  // keeps the best of eight attempts
        const auto value = static_cast<unsigned>(random() % sizes[k]);
        const long fresh = std::count_if(chosen.begin(), chosen.end(),
                                         [&](std::size_t other) { return !pair(other, row[other], k, value); });
        if (fresh > best) {
          best = fresh;
          row[k] = value;
        }
      }
      chosen.push_back(k);
    }
    for (std::size_t x = 0; x < count; ++x)
      for (std::size_t y = 0; y < count; ++y) pair(x, row[x], y, row[y]) = true;
    rows.push_back(row);
  };
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      for (unsigned a = 0; a < sizes[i]; ++a)
        for (unsigned b = 0; b < sizes[j]; ++b)
          if (!pair(i, a, j, b)) add_row(i, a, j, b);
  return rows;
}

}  // namespace tilewise::tests
