// SPDX-License-Identifier: Apache-2.0
// A product of floats by one variant, with operands at any address between guard zones.
#pragma once

#include "guarded_operand.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tilewise::tests {

struct float_product {
  struct form {
    std::uint64_t m, n, k, lda, ldb, ldc;

    std::string text() const {
      return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " " + std::to_string(lda) + " " +
             std::to_string(ldb) + " " + std::to_string(ldc);
    }
    registry::problem problem() const {
      return {.what = &registry::find_algorithm("matmul"), .type = dtype::f32, .shape = {m, n, k, lda, ldb, ldc}};
    }
  };

  form f;
  std::vector<float> a, b;
  std::array<std::uint64_t, 3> shift{};  // of A, B and C, in bytes

  /// The product as the CPU computes it.
  std::vector<float> expected() const {
    std::vector<float> c = floats_of(poisoned(f.m * f.ldc * sizeof(float)));
    matmul(std::span(a), {f.m, f.k, f.lda}, std::span(b), {f.k, f.n, f.ldb}, std::span(c), {f.m, f.n, f.ldc});
    return c;
  }

  std::vector<float> run(const registry::variant& by, const registry::tuning& t, backend::queue& q) const {
    const std::string what = by.id() + " " + registry::to_string(t, by.tuning);
    const std::vector<std::byte> a_bytes = bytes_of(a), b_bytes = bytes_of(b);
    guarded_operand of_a(q, a_bytes, shift[0]), of_b(q, b_bytes, shift[1]),
        of_c(q, poisoned(f.m * f.ldc * sizeof(float)), shift[2]);
    registry::bindings where;
    where.in[0] = of_a.inner(), where.in[1] = of_b.inner(), where.out[0] = of_c.inner();
    by.run(f.problem(), where, t, q);
    q.finish();
    std::vector<float> result = floats_of(of_c.download());
    EXPECT_TRUE(of_c.guards_whole()) << what;
    EXPECT_TRUE(same_bytes(of_a.download(), a_bytes) && same_bytes(of_b.download(), b_bytes)) << what;
    return result;
  }

 private:
  static std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

}  // namespace tilewise::tests
