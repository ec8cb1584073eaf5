// How a group is measured, as the caller wants it.
#pragma once

#include "lab/rounds.hpp"

namespace tilewise::lab {

struct measuring {
  stop_rule rule;
  bool cold = false;
  std::uint64_t seed = 1;
  round_hooks hooks = {};  // progress is told between samples, never within one
};

}  // namespace tilewise::lab
