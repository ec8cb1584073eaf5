// The variants on the CPU, by speed.
#include "sort/sort_cpu.hpp"

namespace tilewise::impl::sort {

std::vector<registry::variant> sort_cpu_variants() { return {radix_variant(), merge_variant()}; }

}  // namespace tilewise::impl::sort
