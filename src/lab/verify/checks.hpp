// SPDX-License-Identifier: Apache-2.0
// Verifies a group's rows before and after they are timed, in the same memory that is timed.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/operand_sets.hpp"

#include <map>

namespace tilewise::lab {

/// Enqueues one call of the row on one of the sets.
void run_row(const row& r, const registry::problem& p, const operand_sets& memory, std::size_t set);

record::verification verification_of(const verified_case& inputs, registry::claim order, const verdict& v);
std::string why_wrong(bool is_first);

class checks {
 public:
  checks(const verified_case& inputs, operand_sets& memory) : inputs_(inputs), memory_(memory) {}

  /// Runs the row once and compares the result. The first check also notes how long a first call takes, and how many
  /// operations a limit does.
  void check(const row& r, measured& m);

 private:
  void note_changes(const row& r, const call::host_operands& outputs, record::verification& to);

  const verified_case& inputs_;
  operand_sets& memory_;
  std::map<const row*, call::host_operands> first_outputs_;  // of rows with their own order
};

}  // namespace tilewise::lab
