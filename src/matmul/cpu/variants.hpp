// SPDX-License-Identifier: Apache-2.0
// The variants on the CPU, one maker for each <method>.cpp.
#pragma once

#include "backend/cpu/device.hpp"
#include "matmul/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

#include <algorithm>

namespace tilewise::impl::matmul {

registry::variant cpu_packed_variant();
registry::variant cpu_blocked_variant();
registry::variant cpu_simple_variant();

/// Elements [begin, end) of part `index` when `count` elements are cut into `parts` whose sizes differ by at most one.
struct part {
  std::uint64_t begin, end;

  part(std::uint64_t count, std::uint64_t parts, std::uint64_t index)
      : begin(start(count, parts, index)), end(start(count, parts, index + 1)) {}
  std::uint64_t size() const { return end - begin; }

 private:
  static std::uint64_t start(std::uint64_t count, std::uint64_t parts, std::uint64_t index) {
    return count / parts * index + std::min(index, count % parts);
  }
};

/// C where K is 0.
template <class T>
void fill_with_zeros(T* c, const sizes& s) {
  for (std::uint64_t i = 0; i < s.m; ++i) std::fill_n(c + i * s.ldc, s.n, T(0));
}

}  // namespace tilewise::impl::matmul
