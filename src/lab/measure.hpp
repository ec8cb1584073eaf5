// One group of a plan: verify each row, time them in turns, verify again, and make their records.
#pragma once

#include "lab/plan.hpp"
#include "lab/record.hpp"

namespace tilewise::lab {

struct measuring {
  stop_rule rule;
  bool cold = false;
  std::uint64_t seed = 1;
  round_hooks hooks = {};  // progress is told between samples, never within one
};

/// `inputs` is make_case of the group's problem. One record a row, in the rows' order. What
/// a row throws is its own record's failure; what the device throws while it is set up is that of all rows.
std::vector<record> measure_group(const group& what, const verified_case& inputs, const measuring& how);

/// Records of a group that is not measured at all.
std::vector<record> skip_group(const group& what, const measuring& how, status state, const std::string& reason);

/// Why the group's memory does not fit its host or device with a tenth left free; empty if it does.
std::string memory_shortage(const group& what, const measuring& how);

}  // namespace tilewise::lab
