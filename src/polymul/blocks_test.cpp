// SPDX-License-Identifier: Apache-2.0
// Products by transforms whose blocks several GPUs share: what makes the blocks, and their bits.
#include "backend/group/device.hpp"
#include "divide/ranks.hpp"
#include "helpers.hpp"
#include "polymul/ntt_blocks.hpp"
#include "registry/catalog.hpp"
#include "scattered_operand.hpp"

#include <tilewise/polymul.hpp>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

using backend::group::queue;
using impl::polymul::word_field;
using u64 = std::uint64_t;

u64 inverse_of_radix(u64 p) {
  u64 inverse = 1;
  for (int i = 0; i < 32; ++i) inverse = (inverse % 2 == 0 ? inverse : inverse + p) / 2;
  return inverse;
}

/// r[k] of a plan, or its inverse.
u64 root_of(const word_field& f, unsigned backward, unsigned k) {
  u64 root = 1;
  for (unsigned bit = 0; k >> bit != 0; ++bit)
    if ((k >> bit & 1) != 0) root = root * f.of_bit[backward][bit] % f.p * inverse_of_radix(f.p) % f.p;
  return root;
}

// Blocks by Horner's rule for x^n = r[k]^2, and back to the polynomial level by level.
TEST(PolymulBlocks, BlocksComeFromThePolynomialAndMakeItAgain) {
  constexpr unsigned length = 64;
  std::mt19937_64 random(1);
  for (const word_field& f : impl::polymul::all_word_fields().at) {
    std::vector<u64> polynomial(length);
    for (u64& x : polynomial) x = random() % f.p;
    for (unsigned blocks = 2; blocks <= impl::polymul::most_blocks; blocks *= 2) {
      std::vector<u64> values(length);
      for (unsigned k = 0, n = length / blocks; k < blocks; ++k)
        for (unsigned at = length; at-- != 0;)
          values[k * n + at % n] =
              (values[k * n + at % n] * root_of(f, 0, k) % f.p * root_of(f, 0, k) + polynomial[at]) % f.p;
      for (unsigned n = length / blocks; n < length; n *= 2)
        for (unsigned at = 0; at < length; ++at) {
          if (at / n % 2 != 0) continue;
          const u64 u = values[at], v = values[at + n];
          values[at] = (u + v) % f.p;
          values[at + n] = (u + f.p - v) * root_of(f, 1, at / (2 * n)) % f.p;
        }
      for (unsigned at = 0; at < length; ++at) ASSERT_EQ(values[at], polynomial[at] * blocks % f.p) << f.p << " " << at;
    }
  }
}

/// Ranks of one GPU, and all GPUs; none where there is no GPU.
std::vector<std::shared_ptr<backend::device>> groups_of_gpus() {
  std::vector<std::shared_ptr<backend::device>> all;
  std::string why_none;
  for (const backend::runtime& r : backend::runtimes())
    if (r.name == "cuda" && !r.devices(why_none).empty())
      for (const char* name : {"1*cuda:0", "2*cuda:0", "3*cuda:0", "5*cuda:0", "8*cuda:0", "cuda:*"})
        all.push_back(backend::find_device(name, {}));
  return all;
}

template <class T>
struct product_case {
  std::vector<T> a, b;
  u64 modulus;  // or 0
  std::vector<std::int64_t> c;

  product_case(std::size_t n, std::size_t m, u64 by, std::mt19937_64& random) : a(n), b(m), modulus(by) {
    // Without a modulus no coefficient may exceed 63 bits.
    const unsigned width =
        static_cast<unsigned>(std::min<std::size_t>(8 * sizeof(T), (63 - std::bit_width(std::min(n, m))) / 2));
    const unsigned unused = modulus == 0 ? static_cast<unsigned>(8 * sizeof(T)) - width : 0;
    for (auto* factor : {&a, &b})
      for (T& x : *factor) x = static_cast<T>(static_cast<T>(random()) >> unused);
    polymul_options on_cpu{.device = open("cpu")};
    if (modulus != 0) on_cpu.modulus = modulus;
    c = polymul(a, b, on_cpu);
  }
  registry::problem problem() const {
    registry::problem p{
        .what = &impl::polymul::polymul_algorithm(), .type = dtype_of<T>, .shape = {a.size(), b.size()}};
    if (modulus != 0) impl::polymul::set_modulus(p, modulus);
    return p;
  }
};

/// What is wrong with the product that `run` writes from operands with any borders; empty if nothing is.
template <class T, class Run>
std::string fault_of(const product_case<T>& x, queue& q, std::mt19937_64& random, const Run& run) {
  const auto operand = [&](const registry::operand& o, const std::vector<std::byte>& contents) {
    return scattered_operand(q, o, contents, random);
  };
  const registry::problem p = x.problem();
  const auto in = p.what->inputs(p), out = p.what->outputs(p);
  const scattered_operand a = operand(in[0], bytes_of(x.a)), b = operand(in[1], bytes_of(x.b)),
                          c = operand(out[0], std::vector<std::byte>(out[0].bytes(), std::byte{0xa5}));
  registry::bindings where;
  where.in = {a.memory(), b.memory()};
  where.out = {c.memory()};
  run(p, where);
  q.finish();
  if (a.download() != bytes_of(x.a) || b.download() != bytes_of(x.b)) return "changed its input";
  const std::vector<std::byte> got = c.download(), expected = bytes_of(x.c);
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = x.c.size(); i-- != 0;)
    if (std::memcmp(&got[8 * i], &expected[8 * i], 8) != 0) ++wrong, first = i;
  return wrong == 0 ? "" : std::to_string(wrong) + " coefficients differ, the first is " + std::to_string(first);
}

using shape = std::pair<std::size_t, std::size_t>;

/// On all groups, since what is expected takes longest to compute.
template <class T, class Run>
void try_products(std::span<const shape> shapes, const Run& run) {
  const auto groups = groups_of_gpus();
  std::mt19937_64 random(7);
  for (const auto& [n, m] : groups.empty() ? std::span<const shape>() : shapes)
    for (const u64 modulus : {u64{0}, u64{1'000'003}, (u64{1} << 63) - 25}) {
      const product_case<T> x(n, m, modulus, random);
      for (const auto& on : groups) {
        SCOPED_TRACE(on->info().name + " " + to_string(x.problem()) + " " + std::to_string(modulus));
        run(x, backend::group::enter(on->queue()), random);
      }
    }
}

TEST(PolymulBlocks, AnyNumberOfThemHasTheBitsOfTheCpu) {
  const std::vector<shape> shapes{{1, 1},           {3, 2},           {2048, 2049}, {4096, 4096},    {4097, 4096},
                                  {20'000, 12'768}, {20'001, 12'768}, {65'537, 5},  {99'991, 70'001}};
  const auto run = [](const auto& x, queue& q, std::mt19937_64& random) {
    for (unsigned log = 1; log <= impl::polymul::log_most_blocks && 1u << log <= q.ranks(); ++log) {
      const auto by_blocks = [&](const registry::problem& p, const registry::bindings& where) {
        q.on_each_rank([&](const divide::rank& r) { impl::polymul::multiply_by_blocks(p, where, r, log); });
      };
      EXPECT_EQ(fault_of(x, q, random, by_blocks), "") << (1u << log) << " blocks";
    }
  };
  try_products<std::int32_t>(shapes, run);
  try_products<std::int64_t>(shapes, run);
}

TEST(PolymulBlocks, TheVariantHasTheBitsOfTheCpu) {
  const auto run = [](const auto& x, queue& q, std::mt19937_64& random) {
    const auto variant = [&](const registry::problem& p, const registry::bindings& where) {
      registry::find_variant("polymul/group:ntt").run(p, where, {}, q);
    };
    EXPECT_EQ(fault_of(x, q, random, variant), "");
  };
  // On both sides of each change of the passes.
  const std::vector<shape> shapes{
      {700, 900}, {1 << 20, 1 << 20}, {(1 << 20) + 1, 1 << 20}, {1 << 21, (1 << 21) + 1}, {(1 << 22) + 1, 1 << 22}};
  try_products<std::int32_t>(shapes, run);
  try_products<std::int64_t>(std::span(shapes).first(3), run);
}

TEST(PolymulBlocks, WhatHasNoTransformIsRefused) {
  const registry::variant& ntt = registry::find_variant("polymul/group:ntt");
  for (const auto& on : groups_of_gpus()) {
    const auto reason = [&](u64 n, u64 m, u64 modulus) {
      registry::problem p{.what = &impl::polymul::polymul_algorithm(), .type = dtype::i64, .shape = {n, m}};
      if (modulus != 0) impl::polymul::set_modulus(p, modulus);
      return registry::unsupported_reason(ntt, p, *on, {});
    };
    constexpr u64 half = u64{1} << 26, large = (u64{1} << 63) - 25;
    EXPECT_EQ(reason(half, half, 0), "") << on->info().name;
    EXPECT_NE(reason(half + 1, half + 1, 0).find("2^27 coefficients"), std::string::npos) << on->info().name;
    EXPECT_EQ(reason(half / 2, half / 2, large), "") << on->info().name;
    EXPECT_NE(reason(half, half, large).find("2^26 coefficients"), std::string::npos) << on->info().name;
  }
}

}  // namespace
}  // namespace tilewise::tests
