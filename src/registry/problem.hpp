// SPDX-License-Identifier: Apache-2.0
// A problem is one point in an algorithm's space: the algorithm, the element type, the sizes and the settings.
// It holds no data. Tests, lab and tool enumerate problems.
#pragma once

#include "base/number.hpp"

#include <array>
#include <utility>
#include <vector>

namespace tilewise::registry {

struct algorithm;

/// Up to six sizes, whose meaning depends on the algorithm. reduce and scan: {n}. matmul: {M, N, K}, or with strides
/// {M, N, K, stride of A, stride of B, stride of C}.
struct extents {
  std::array<std::uint64_t, 6> size{};
  unsigned rank = 0;

  constexpr extents() = default;
  constexpr extents(std::initializer_list<std::uint64_t> sizes) {
    for (std::uint64_t s : sizes) size[rank++] = s;
  }
  constexpr std::uint64_t operator[](unsigned i) const { return size[i]; }
  bool operator==(const extents&) const = default;
};

std::string to_string(const extents& shape);  // "67108865" or "512x512"

struct problem {
  const algorithm* what = nullptr;
  dtype type = dtype::f32;
  extents shape;
  std::array<std::uint8_t, 4> setting{};       // index into what->settings[i].values
  std::array<base::scalar_value, 4> number{};  // such as init, dt, modulus; named by what->numbers

  std::uint64_t n() const { return shape[0]; }
};

/// Sets one of the algorithm's settings. Throws `invalid_argument`, with similar words, if it has no such value.
void choose_setting(problem& p, std::string_view name, std::string_view word);

/// The settings and their values, as they appear in the problem's name and records.
std::vector<std::pair<std::string_view, std::string_view>> named_settings(const problem& p);

/// "scan.f32 n=67108865 op=sum kind=inclusive"
std::string to_string(const problem& p);

}  // namespace tilewise::registry
