// SPDX-License-Identifier: Apache-2.0
// The problems that a request poses to an algorithm: sizes or shapes, types and settings, each checked.
#pragma once

#include "lab/plan/request.hpp"

namespace tilewise::lab {

/// No machine holds more, and sums of byte counts of it fit 64 bits.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 48;

/// Whether one call of the definition takes a second at most: a median takes a dozen of them.
bool is_definition_timed(const registry::problem& p);

struct asked_problems {
  std::vector<registry::problem> all;
  std::string refused;  // if there are none: why what was asked for has no answer
};
asked_problems problems_of(const registry::algorithm& what, const request& wanted);

struct asked_experiment {
  registry::problem problem;
  const experiment* from;
};
/// What the documents measure of these algorithms, at the request's sizes if it names any. Throws `invalid_argument`,
/// saying what there is, if that is nothing, and for types and settings, which are the documents' own.
std::vector<asked_experiment> experiments_of(std::span<const registry::algorithm* const> selected,
                                             const request& wanted);

/// Throws `invalid_argument`, saying what there is, for a shape of a rank or a setting that none of these algorithms
/// has.
void refuse_foreign(std::span<const registry::algorithm* const> selected, const request& wanted);

}  // namespace tilewise::lab
