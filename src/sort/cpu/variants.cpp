// SPDX-License-Identifier: Apache-2.0
// The variants on the CPU, by speed.
#include "sort/cpu/variants.hpp"

namespace tilewise::impl::sort {

std::vector<registry::variant> sort_cpu_variants() { return {cpu_radix_variant(), cpu_merge_variant()}; }

}  // namespace tilewise::impl::sort
