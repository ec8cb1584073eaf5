// The variants on the CPU, one maker for each polymul_cpu_<method>.cpp.
#pragma once

#include "backend/cpu/cpu_device.hpp"
#include "polymul/polymul_problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

registry::variant cpu_naive();
registry::variant cpu_karatsuba();
registry::variant cpu_ntt();

}  // namespace tilewise::impl::polymul
