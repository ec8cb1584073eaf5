// SPDX-License-Identifier: Apache-2.0
// What:   polymul on the ranks of a group: its variants in the order of choice.
// Order:  that of polymul_serial.cpp on each rank.
// Shape:  polymul_group_<method>.cpp.
// Limits: those of the methods.
// Twins:  polymul_serial.cpp, polymul_cpu.cpp.
#include "polymul/polymul_group.hpp"

namespace tilewise::impl::polymul {

std::vector<registry::variant> polymul_group_variants() {
  return {group_ntt_variant(), group_naive_variant(), group_karatsuba_variant()};
}

}  // namespace tilewise::impl::polymul
