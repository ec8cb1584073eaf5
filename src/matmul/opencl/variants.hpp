// SPDX-License-Identifier: Apache-2.0
// The variants of matmul on OpenCL that have their own files.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

registry::variant opencl_split_k_variant();

}  // namespace tilewise::impl::matmul
