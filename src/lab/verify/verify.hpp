// SPDX-License-Identifier: Apache-2.0
// Checks whether one variant on one device gives the definition's bits for one input.
#pragma once

#include "call/operands.hpp"
#include "lab/verify/generate.hpp"
#include "registry/choose.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct XXH3_state_s;

namespace tilewise::lab {

/// XXH3-128 of bytes that are added part by part, in order.
class digest {
 public:
  digest();
  void add(std::span<const std::byte> bytes);
  std::string text() const;  // 32 hex digits

 private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> state_;
};
std::string digest_of(std::span<const std::byte> bytes);

/// Inputs for a problem, as its algorithm admits them.
call::host_operands make_inputs(const registry::problem& p, data_class data, std::uint64_t seed);

/// In operations. More take seconds with the definition of a matrix product, the slowest per operation.
inline constexpr double longest_definition = 2147483648.0;

/// Host copies of a problem's inputs, and the expected outputs. These come from the definition (<algorithm>/serial).
/// Beyond 2^31 operations, where the definition takes seconds, they come from what `auto` chooses on the CPU, which the
/// tests compare with the definition.
struct verified_case {
  registry::problem problem;
  call::host_operands inputs, expected;
  std::string expected_digest;  // of all outputs joined
  std::string reference;        // the variant that made the expected outputs
};
verified_case make_case(const registry::problem& p, data_class data, std::uint64_t seed);
/// The same for results that are not to be checked: the expected outputs have only their sizes.
verified_case make_unchecked_case(const registry::problem& p, data_class data, std::uint64_t seed);
verified_case make_case(const registry::problem& p, call::host_operands inputs);

/// The first values of the first expected output, `count` at most: "2 7 16".
std::string first_values(const verified_case& c, std::uint64_t count);

struct difference {
  std::string operand;
  std::uint64_t index;
  std::string expected, got;  // shortest round-trip number and its bits in hex
};

struct verdict {
  bool ok = false;
  std::string digest;
  std::uint64_t mismatches = 0;
  std::optional<difference> first;
  /// For variants with their own order: relative to the largest magnitude of the expected values or of the terms added.
  double max_relative_error = 0;
};

/// Compares outputs with the expected ones: memcmp for claim::tilewise, within the variant's bound for claim::own.
verdict compare(const verified_case& c, const registry::variant& v, std::span<const std::vector<std::byte>> outputs);

/// Uploads, poisons the outputs, runs, downloads and compares.
verdict verify(const verified_case& c, const registry::choice& how, backend::queue& queue);

/// Whether the problem's settings use number k: the setting with that number's name is "given".
bool is_given(const registry::problem& p, std::size_t k);

/// Sets the numbers that the problem's settings use from the seed, and the others to zero.
void give_numbers(registry::problem& p, std::uint64_t seed);

/// Every problem of an algorithm at one shape and type: all combinations of settings, with numbers from the seed where
/// a setting uses them. Problems that the algorithm refuses (algorithm.invalid) are left out.
std::vector<registry::problem> problems_at(const registry::algorithm& what, dtype type, const registry::extents& shape,
                                           std::uint64_t seed);

}  // namespace tilewise::lab
