// SPDX-License-Identifier: Apache-2.0
// The variants on the CPU, in the order of choice: transforms, from where they are faster than the definition. By then
// they are faster than Karatsuba's recursion too, which is there to be forced.
#include "polymul/cpu/variants.hpp"

namespace tilewise::impl::polymul {

std::vector<registry::variant> polymul_cpu_variants() {
  return {cpu_ntt_variant(), cpu_naive_variant(), cpu_karatsuba_variant()};
}

}  // namespace tilewise::impl::polymul
