// SPDX-License-Identifier: Apache-2.0
// Replaces catalog.gen.cpp, so that fuzz targets are compiled without the kernels: an algorithm with settings and a
// variant with tunings.
#include "registry/catalog.hpp"

namespace tilewise::registry {

namespace {

constexpr std::array<std::string_view, 4> ops{"sum", "product", "min", "max"};
constexpr std::array<std::string_view, 2> orders{"ascending", "descending"};
constexpr std::array settings{setting{"op", ops}, setting{"order", orders, true}};
constexpr std::array<unsigned, 3> widths{64, 128, 4096};
constexpr std::array<unsigned, 2> switches{0, 1};
constexpr std::array<std::string_view, 2> carries{"local", "global"};
constexpr std::array axes{tuning_axis{"width", widths, 128}, tuning_axis{"carry", switches, 0, carries}};

}  // namespace

std::span<const algorithm* const> algorithms() {
  static constexpr algorithm one{.name = "scan", .types = all_dtypes, .settings = settings};
  static constexpr std::array all{&one};
  return all;
}

std::vector<variant> listed_variants() {
  return {{.algorithm = "scan", .backend = "serial", .types = all_dtypes},
          {.algorithm = "scan", .backend = "cpu", .name = "blocks", .types = all_dtypes, .tuning = axes}};
}

}  // namespace tilewise::registry
