// SPDX-License-Identifier: Apache-2.0
// The descriptor of polymul.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "polymul/problem.hpp"

#include <bit>
#include <cstring>

namespace tilewise::impl::polymul {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<std::string_view, 2> moduli{"none", "given"};
constexpr std::array<registry::setting, 1> settings{{{"modulus", moduli}}};
constexpr std::array<std::string_view, 1> numbers{"modulus"};

// No elements, constants, around one vector, one tile and one base case in both, powers of two +-1 as the product's
// length, very unequal lengths, ranges of products; the last ones reach every level of recursion.
constexpr std::array<extents, 36> edge_shapes{{{0, 0},
                                               {0, 5},
                                               {5, 0},
                                               {1, 1},
                                               {1, 2},
                                               {2, 1},
                                               {2, 2},
                                               {3, 2},
                                               {3, 7},
                                               {8, 8},
                                               {9, 8},
                                               {16, 17},
                                               {31, 33},
                                               {32, 32},
                                               {33, 32},
                                               {64, 65},
                                               {127, 130},
                                               {128, 128},
                                               {129, 128},
                                               {255, 1},
                                               {1, 1000},
                                               {257, 255},
                                               {511, 514},
                                               {512, 512},
                                               {3, 4099},
                                               {8193, 5},
                                               {1000, 300},
                                               {100, 3001},
                                               {9, 8, 0, 16},
                                               {64, 3, 65, 1},
                                               {700, 900, 590, 300},
                                               {3001, 100, 1, 0},
                                               {1025, 1024},
                                               {4200, 4100},
                                               {17, 16500},
                                               {9001, 4200}}};
constexpr std::array<extents, 3> quick_shapes{{{256, 256}, {4096, 4096}, {16384, 16384}}};
constexpr std::array<extents, 8> normal_shapes{{{64, 64},
                                                {256, 256},
                                                {1024, 1024},
                                                {4096, 4096},
                                                {16384, 16384},
                                                {65536, 65536},
                                                {65536, 1024},
                                                {1048576, 1048576}}};

std::vector<operand> inputs(const problem& p) { return {{"a", p.type, sizes(p).n}, {"b", p.type, sizes(p).m}}; }
std::vector<operand> outputs(const problem& p) { return {{"c", product_type(p.type), sizes(p).count}}; }

double operations(const problem& p) {
  const sizes s(p);
  return 2.0 * static_cast<double>(s.work_below(s.first + s.count) - s.work_below(s.first));
}

std::string invalid(const problem& p) {
  const sizes s(p);
  constexpr std::uint64_t most = std::uint64_t{1} << 60;  // whose bytes fit 64 bits
  if (s.n > most || s.m > most || s.product() > most)
    return "a product of " + std::to_string(s.n) + " and " + std::to_string(s.m) + " coefficients cannot be stored";
  if (s.first > s.product() || s.count > s.product() - s.first)
    return "a product of " + std::to_string(s.n) + " and " + std::to_string(s.m) + " coefficients has no " +
           std::to_string(s.count) + " from coefficient " + std::to_string(s.first) + " on";
  if (p.setting[0] == 0) return "";
  if (is_float(p.type))
    return "a modulus is for integers, and the coefficients are " + std::string(name_of(p.type)) +
           "; convert them, or leave the modulus out";
  if (modulus_of(p) == 0 || modulus_of(p) >= modulus_end)
    return "the modulus is " + std::to_string(modulus_of(p)) + "; it must be from 1 to 2^63 - 1";
  return "";
}

/// Turns any 64 bits into a modulus. Small and large moduli are equally likely.
std::uint64_t modulus_from(std::uint64_t bits) {
  const unsigned width = 1 + static_cast<unsigned>(bits >> 58) % 63;
  return std::max<std::uint64_t>(bits & ((std::uint64_t{1} << width) - 1), 1);
}

template <class T>
void keep_below(std::vector<std::byte>& bytes, unsigned width) {
  if (width >= 8 * sizeof(T)) return;
  const auto end = static_cast<T>(std::uint64_t{1} << width);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    value = static_cast<T>(value % end);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

void fit_numbers(problem& p) {
  if (p.setting[0] != 0) set_modulus(p, modulus_from(p.number[0].bits));
}

/// Without a modulus, cuts the coefficients to so few bits that every coefficient of the product has at most 63 bits.
void fit_inputs(const problem& p, std::span<std::vector<std::byte>> inputs) {
  if (is_float(p.type) || p.setting[0] != 0) return;
  const unsigned spare = 63 - static_cast<unsigned>(std::bit_width(sizes(p).shorter()));
  unsigned width = spare / 2;
  for (auto& bytes : inputs) {
    const unsigned kept = std::min(width, p.type == dtype::i32 ? 31u : 62u);
    if (p.type == dtype::i32)
      keep_below<std::int32_t>(bytes, kept);
    else
      keep_below<std::int64_t>(bytes, kept);
    width = spare - width;
  }
}

problem describe(const detail::request& r) {
  problem p{.what = &polymul_algorithm(), .type = r.in[0].type, .shape = {r.in[0].size, r.in[1].size}};
  if (const number modulus = call::number_of(r, "modulus"); modulus.is_given())
    set_modulus(p, call::converted(modulus, dtype::u64, "modulus").as<std::uint64_t>());
  call::admit(p, {});
  if (const std::uint64_t product = sizes(p).product(); r.out[0].size != product)
    throw error(errc::invalid_argument, "the factors have " + std::to_string(p.shape[0]) + " and " +
                                            std::to_string(p.shape[1]) + " coefficients, and the output has room for " +
                                            std::to_string(r.out[0].size) + "; the product has " +
                                            std::to_string(product));
  return p;
}

constexpr std::array<registry::parameter, 2> arrays{
    {{"a", "n", "coefficients, the constant first"}, {"b", "m", "coefficients"}}};
constexpr std::array<registry::option, 1> options{
    {{"modulus", "P", "integers: coefficients in [0, P), for P up to 2^63 - 1", dtype::u64}}};
constexpr registry::signature called{
    .says = "the product of two polynomials, exact on integers",
    .sizes = "nm",
    .inputs = arrays,
    .result = {"c", "", "required; may be an input; integers become i8"},
    .options = options,
    .notes =
        "Integers are exact: a coefficient that needs more than 64 bits is an error, exit\n"
        "code 5, unless a modulus is given. The file is the same to the last byte on\n"
        "every device. \"-\" is standard input or output. It takes the memory of all\n"
        "three, and several times that for work.",
    .examples =
        "  tilewise polymul a.npy b.npy -o c.npy\n"
        "  tilewise polymul a.npy b.npy -o c.npy --modulus 998244353 --device opencl:0",
    .shape_of_result = [](const problem& p) { return std::vector{sizes(p).count}; }};

}  // namespace

const registry::algorithm& polymul_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "polymul",
        .summary = "polynomial product: exact for integers, or by a modulus; floats in order",
        .types = coefficient_types,
        .settings = settings,
        .numbers = numbers,
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .called = &called,
        .invalid = invalid,
        .describe = describe,
        .proves = &no_overflow,
        .fit_numbers = fit_numbers,
        .fit_inputs = fit_inputs,
        .fuses = true,
        .has_shorter_methods = true,  // Karatsuba and transforms
        .grows_unevenly = true,       // transforms do, and the choice of the method changes with the sizes
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::polymul
