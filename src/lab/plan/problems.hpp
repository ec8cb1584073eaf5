// SPDX-License-Identifier: Apache-2.0
// The problems of an algorithm that a request asks for: sizes or shapes, types and settings, each checked.
#pragma once

#include "lab/plan/request.hpp"

namespace tilewise::lab {

/// Larger than any machine's memory, and small enough that sums of byte counts fit 64 bits.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 48;

/// Whether one call of the definition takes at most a second. Timing it takes a dozen calls.
bool is_definition_timed(const registry::problem& p);

struct asked_problems {
  std::vector<registry::problem> all;
  std::string refused;  // why, if there are none
};
asked_problems problems_of(const registry::algorithm& what, const request& wanted);

struct asked_experiment {
  registry::problem problem;
  const experiment* from;
};
/// The experiments that documents made with these algorithms, at the request's sizes if it names any. Throws
/// `invalid_argument`, with the possible values, if there is none. It also throws if the request names types or
/// settings, since the documents set these.
std::vector<asked_experiment> experiments_of(std::span<const registry::algorithm* const> selected,
                                             const request& wanted);

/// Throws `invalid_argument`, with the possible values, for a setting, or a shape of a rank, that none of these
/// algorithms has.
void refuse_foreign(std::span<const registry::algorithm* const> selected, const request& wanted);

}  // namespace tilewise::lab
