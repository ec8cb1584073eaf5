// SPDX-License-Identifier: Apache-2.0
// The variants of scan on OpenCL that have their own files.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::scan {

registry::variant opencl_sweep_add_variant();

}  // namespace tilewise::impl::scan
