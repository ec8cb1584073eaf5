// SPDX-License-Identifier: Apache-2.0
// Tiles of a CUDA product that groups share out, which needs more tiles than the sweeps' shapes have: against the
// definition, where there is a GPU.
#include "catalog_sweep.hpp"
#include "cuda_fixture.hpp"
#include "registry/choose.hpp"

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::sweep_case;
using tests::sweep_target;

struct tile {
  std::string_view word;
  std::uint64_t rows, columns;
};

/// As many tiles as this many tenths of the compute units, and one more: fewer than groups, hardly more, and several
/// waves of them.
constexpr std::array<std::uint64_t, 7> tenths{4, 10, 11, 15, 20, 25, 43};
/// Fewer k's than a step has, whole steps, and parts of them, in rows that can be read in packs and others.
constexpr std::array<std::uint64_t, 8> depths{0, 1, 16, 33, 70, 72, 100, 160};

void expect_the_definition(std::string_view name, dtype type, const tile& shape) {
  for (const sweep_target& target : tests::sweep_targets()) {
    if (target.variant.id() != name || target.device != "cuda:0") continue;
    tests::sweep_runner runner(target);
    const std::uint64_t units = runner.open({}).info().compute_units;
    std::uint64_t round = 0, seed = 0;
    for (const std::uint64_t tenth : tenths) {
      const std::uint64_t tiles = units * tenth / 10 + 1, down = 1 + round % 3, across = (tiles + down - 1) / down;
      for (const std::uint64_t k : depths) {
        ++seed;
        const std::uint64_t m = down * shape.rows - seed % 4;
        const std::uint64_t n = across * shape.columns - (round / 2 % 2 == 0 ? seed % 7 : seed % 2 * 4);
        const sweep_case c{.problem = {.what = &registry::find_algorithm("matmul"), .type = type, .shape = {m, n, k}},
                           .data = lab::all_data_classes[seed % lab::all_data_classes.size()],
                           .seed = seed,
                           .options = {},
                           .tuning = registry::parse_tuning("tile=" + std::string(shape.word), target.variant.tuning),
                           .place = round % 2 == 0 ? tests::placement::apart : tests::placement::unaligned};
        if (const std::string why = runner.unsupported(c); !why.empty()) GTEST_SKIP() << why;
        const std::string wrong = runner.run(c);
        EXPECT_TRUE(wrong.empty()) << to_string(c, target) << ": " << wrong;
      }
      ++round;
    }
    return;
  }
  ADD_FAILURE() << "no " << name << " on cuda:0";
}

constexpr std::array tensor_tiles{tile{"half_shared", 32, 64}, tile{"medium_shared", 64, 64},
                                  tile{"huge_shared", 128, 128}};
constexpr std::array register_tiles{tile{"half_shared", 64, 64}, tile{"medium_shared", 64, 128},
                                    tile{"large_shared", 128, 128}, tile{"piped_medium_shared", 64, 64}};

class MatmulShares : public tests::cuda_device_test {};

TEST_F(MatmulShares, OfFloatsHaveTheDefinitionsBits) {
  for (const tile& shape : register_tiles) expect_the_definition("matmul/cuda:register_tiles", dtype::f32, shape);
}

TEST_F(MatmulShares, OfIntegersHaveTheDefinitionsBits) {
  for (const tile& shape : register_tiles) expect_the_definition("matmul/cuda:register_tiles", dtype::i32, shape);
}

TEST_F(MatmulShares, OfDoublesHaveTheDefinitionsBits) {
  for (const tile& shape : tensor_tiles) expect_the_definition("matmul/cuda:tensor_f64", dtype::f64, shape);
}

}  // namespace
}  // namespace tilewise
