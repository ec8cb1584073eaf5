// SPDX-License-Identifier: Apache-2.0
// What:   polymul on the ranks of a group: its variants in the order of choice.
// Order:  that of serial.cpp on each rank.
// Shape:  <method>.cpp.
// Limits: those of the methods.
// Twins:  serial.cpp, cpu/variants.cpp.
#include "polymul/group/variants.hpp"

namespace tilewise::impl::polymul {

std::vector<registry::variant> polymul_group_variants() {
  return {group_ntt_variant(), group_naive_variant(), group_karatsuba_variant()};
}

}  // namespace tilewise::impl::polymul
