// SPDX-License-Identifier: Apache-2.0
// Inputs and references of the groups that a bench visits, kept for their second visits.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/verify/verify.hpp"

#include <list>

namespace tilewise::lab {

class known_cases {
 public:
  /// Made at the first call for a problem, and again if it went meanwhile: what is oldest goes while all would take
  /// more than a quarter of the host's free memory.
  const verified_case& of(const group& g, const measuring& how);
  /// Gives all memory back.
  void forget() { all_.clear(); }

 private:
  struct known {
    const experiment* from;
    verified_case made;
  };
  void make_room(std::uint64_t bytes);

  std::list<known> all_;  // the oldest first
};

}  // namespace tilewise::lab
