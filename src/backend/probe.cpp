// SPDX-License-Identifier: Apache-2.0
#include "backend/probe.hpp"

#include "order/operators.hpp"

#include <tilewise/float_mode.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tilewise::backend {

namespace {

struct operands {
  std::vector<float> a, b, c;
  void add(float x, float y, float z) {
    a.push_back(x);
    b.push_back(y);
    c.push_back(z);
  }
};

/// Sums with known bits: they also detect a host that flushes denormals or rounds differently, whose results would
/// agree with its own.
struct known_sum {
  float a, b, sum;
};
constexpr std::array known{
    known_sum{0x1p-149f, 0, 0x1p-149f},     known_sum{0x1.8p-126f, -0x1p-126f, 0x1p-127f}, known_sum{1, 0x1p-24f, 1},
    known_sum{1, 0x1.8p-24f, 1 + 0x1p-23f}, known_sum{-1, -0x1.8p-24f, -1 - 0x1p-23f},     known_sum{1, 0x1p-25f, 1}};

constexpr std::size_t normal_count = 4096;  // contraction changes about a quarter of them
constexpr std::size_t denormal_count = 256;

/// A float of magnitude about 2^exponent with random sign and fraction.
float random_float(std::uint64_t& state, int exponent) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  const std::uint32_t bits = static_cast<std::uint32_t>(state >> 32);
  return std::bit_cast<float>((bits & 0x807fffffu) | static_cast<std::uint32_t>(127 + exponent) << 23);
}

operands make_operands() {
  operands all;
  std::uint64_t state = 1;
  const auto exponent = [&] { return static_cast<int>(state >> 60) - 8; };
  for (std::size_t i = 0; i < normal_count; ++i) {
    const float x = random_float(state, exponent()), y = random_float(state, exponent());
    all.add(x, y, random_float(state, exponent()));
  }
  for (std::size_t i = 0; i < denormal_count; ++i) {  // whose sums and products are below the smallest normal number
    const float x = random_float(state, 0) * 0x1p-130f, y = random_float(state, 0) * 0x1p-131f;
    all.add(x, i % 2 == 0 ? y : y * 0x1p120f, y);
  }
  for (const known_sum& k : known) all.add(k.a, k.b, 1);
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t payload : {0x7fc00001u, 0xffc00000u, 0xff812345u, 0x7f800001u})
    all.add(std::bit_cast<float>(payload), 1.5f, 1.0f);
  all.add(infinity, -infinity, 1.0f);
  return all;
}

template <class T>
std::size_t differing(const std::vector<T>& got, const std::vector<T>& expected, std::size_t first, std::size_t last) {
  std::size_t count = 0;
  for (std::size_t i = first; i < last; ++i)
    if constexpr (std::is_same_v<T, float>)
      count += std::bit_cast<std::uint32_t>(got[i]) != std::bit_cast<std::uint32_t>(expected[i]);
    else
      count += got[i] != expected[i];
  return count;
}

arithmetic expected_of(const operands& x) {
  arithmetic host;
  for (std::size_t i = 0; i < x.a.size(); ++i) {
    const auto bits = [i](const std::vector<float>& v) { return std::bit_cast<std::int32_t>(v[i]); };
    host.multiply_add.push_back(x.a[i] * x.b[i] + x.c[i]);
    host.fused.push_back(std::fma(x.a[i], x.b[i], x.c[i]));
    host.sum.push_back(order::canonical(x.a[i] + x.b[i]));
    host.wrapping.push_back(order::sum::apply(order::product::apply(bits(x.a), bits(x.b)), bits(x.c)));
  }
  for (std::size_t i = 0; i < known.size(); ++i) host.sum[normal_count + denormal_count + i] = known[i].sum;
  return host;
}

std::vector<std::string> findings_of(queue& on) {
  const operands x = make_operands();
  const arithmetic host = expected_of(x), there = on.probe_arithmetic(x.a, x.b, x.c);
  if (there.sum.size() != x.a.size()) return {"its arithmetic was not probed"};
  std::vector<std::string> findings;
  const auto expect = [&](const auto& got, const auto& expected, std::size_t first, std::size_t last,
                          const char* what) {
    const std::size_t wrong = differing(got, expected, first, last);
    if (wrong != 0)
      findings.push_back(std::string(what) + ": " + std::to_string(wrong) + " of " + std::to_string(last - first) +
                         " results differ");
  };
  const std::size_t denormals = normal_count + denormal_count, sums = denormals + known.size(), all = x.a.size();
  expect(there.multiply_add, host.multiply_add, 0, normal_count, "a*b+c is contracted or rounded differently");
  expect(there.fused, host.fused, 0, normal_count, "fma is not rounded once");
  expect(there.sum, host.sum, 0, normal_count, "a+b is not rounded to nearest");
  expect(there.sum, host.sum, normal_count, denormals, "denormal sums are flushed");
  expect(there.multiply_add, host.multiply_add, normal_count, denormals, "denormal products are flushed");
  expect(there.sum, host.sum, denormals, sums,
         "known sums differ, so denormals are flushed or rounding is not to nearest");
  expect(there.sum, host.sum, sums, all, "a NaN does not come out canonical");
  expect(there.wrapping, host.wrapping, 0, all, "int32 arithmetic does not wrap");
  return findings;
}

}  // namespace

std::vector<std::string> probe(queue& on) {
  return in_default_float_mode([&] { return findings_of(on); });
}

}  // namespace tilewise::backend
