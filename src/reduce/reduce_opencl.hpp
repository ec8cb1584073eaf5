// SPDX-License-Identifier: Apache-2.0
// The variants of reduce on OpenCL that have their own files.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::reduce {

registry::variant opencl_doubling_variant();

}  // namespace tilewise::impl::reduce
