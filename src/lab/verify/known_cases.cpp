// SPDX-License-Identifier: Apache-2.0
#include "lab/verify/known_cases.hpp"

#include "io/host_memory.hpp"
#include "lab/bench/operand_sets.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

bool same_problem(const registry::problem& a, const registry::problem& b) {
  return a.what == b.what && a.type == b.type && a.shape == b.shape && a.setting == b.setting && a.number == b.number;
}

verified_case case_of(const group& g, const measuring& how) {
  if (g.has_own_inputs()) return make_case(g.problem, g.from->inputs(g.problem));
  return make_case(g.problem, g.made_of(), how.seed);
}

}  // namespace

const verified_case& known_cases::of(const group& g, const measuring& how) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const known& k) {
    return k.from == g.from && same_problem(k.made.problem, g.problem);
  });
  if (found != all_.end()) return found->made;
  make_room(operand_bytes(g.problem));
  return all_.emplace_back(known{g.from, case_of(g, how)}).made;
}

void known_cases::make_room(std::uint64_t bytes) {
  std::uint64_t kept = 0;
  for (const known& k : all_) kept += operand_bytes(k.made.problem);
  const std::uint64_t most = (io::available_host_memory() + kept) / 4;
  for (; !all_.empty() && kept + bytes > most; all_.pop_front()) kept -= operand_bytes(all_.front().made.problem);
}

}  // namespace tilewise::lab
