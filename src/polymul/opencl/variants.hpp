// SPDX-License-Identifier: Apache-2.0
// The variants of polymul on OpenCL that have their own files.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

registry::variant opencl_ntt_variant();
registry::variant opencl_karatsuba_host_variant();

}  // namespace tilewise::impl::polymul
