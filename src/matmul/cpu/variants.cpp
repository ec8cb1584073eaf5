// SPDX-License-Identifier: Apache-2.0
// The variants on the CPU, by speed.
#include "matmul/cpu/variants.hpp"

namespace tilewise::impl::matmul {

std::vector<registry::variant> matmul_cpu_variants() {
  return {cpu_packed_variant(), cpu_blocked_variant(), cpu_simple_variant()};
}

}  // namespace tilewise::impl::matmul
