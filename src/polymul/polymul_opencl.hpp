// The variants of polymul on OpenCL that have a file of their own.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

registry::variant opencl_ntt_variant();

}  // namespace tilewise::impl::polymul
