// SPDX-License-Identifier: Apache-2.0
#include "report/model.hpp"

#include <algorithm>
#include <array>

namespace tilewise::report {

namespace {

/// "ntt" of "polymul/cuda:ntt".
std::string_view method_of(const row& r) {
  const std::string_view variant = r.variant;
  return variant.substr(variant.find_last_of("/:") + 1);
}

template <std::size_t N>
bool is_among(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool needs_fewer_operations(const row& r) {
  constexpr std::array<std::string_view, 5> short_products{"karatsuba", "karatsuba_host", "ntt", "cufft", "flint"};
  return r.algorithm == "polymul" && is_among(method_of(r), short_products);
}

bool is_less_exact(const std::string& algorithm, std::optional<double> error) {
  constexpr double of_ten_bits = 1e-4;  // TF32's error is 2e-4 of the largest element, f32's less than 4e-6
  return unit_of(algorithm) == speed_unit::operations && error.value_or(0) > of_ten_bits;
}

bool is_bound_by_memory_alone(const row& r) {
  constexpr double most_operations_per_byte = 8;
  return needs_fewer_operations(r) || r.operations <= most_operations_per_byte * r.bytes;
}

}  // namespace tilewise::report
