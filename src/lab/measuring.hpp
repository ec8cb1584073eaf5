// How the caller wants a group to be measured.
#pragma once

#include "lab/rounds.hpp"

namespace tilewise::lab {

struct measuring {
  stop_rule rule;
  bool cold = false;
  std::uint64_t seed = 1;
  round_hooks hooks = {};  // progress is reported between samples, never during one
};

}  // namespace tilewise::lab
