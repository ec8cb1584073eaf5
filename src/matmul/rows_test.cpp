// SPDX-License-Identifier: Apache-2.0
// Products on CUDA whose rows begin anywhere, so large that their operands are copied, which the sweeps' shapes are
// not: against the CPU, where there is a GPU.
#include "cuda_fixture.hpp"
#include "float_product.hpp"
#include "registry/choose.hpp"

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using form = tests::float_product::form;

class MatmulRows : public tests::cuda_device_test {
 protected:
  void expect_bits(const form& f, std::uint64_t shift_of_a, std::uint64_t shift_of_b) {
    const tests::float_product p{f,
                                 tests::wide_floats(f.m * f.lda, 1),
                                 tests::wide_floats(f.k * f.ldb, 2),
                                 {shift_of_a * sizeof(float), shift_of_b * sizeof(float), sizeof(float)}};
    const registry::variant& by = registry::find_variant("matmul/cuda:register_tiles");
    const std::vector<float> expected = p.expected();
    for (const char* tile : {"by_size", "small", "large_shared"})
      tests::expect_bits(p.run(by, registry::parse_tuning("tile=" + std::string(tile), by.tuning), device_->queue()),
                         expected, f.text() + " by tile=" + tile);
  }
};

/// Both are copied, one, or none; columns that end within packs, and rows apart.
TEST_F(MatmulRows, OfLargeProductsBeginAnywhere) {
  expect_bits({1030, 1027, 1029, 1029, 1027, 1027}, 0, 0);
  expect_bits({1025, 1028, 1026, 1027, 1028, 1030}, 0, 0);
  expect_bits({1026, 1025, 1032, 1032, 1025, 1025}, 0, 0);
  expect_bits({1030, 1100, 1540, 1543, 1107, 1101}, 0, 0);
  expect_bits({1026, 1030, 1028, 1028, 1032, 1030}, 0, 0);
  for (const auto& [a, b] : {std::pair{1, 0}, {0, 1}, {3, 2}}) expect_bits({1026, 1028, 1028, 1028, 1032, 1028}, a, b);
}

}  // namespace
}  // namespace tilewise
