// SPDX-License-Identifier: Apache-2.0
// Faults planted in kernels on purpose: a tool that does not report them finds nothing elsewhere either.
#pragma once

#include <string>

namespace tilewise::tests {

/// Runs the kernel with this fault in it.
void run_kernel_fault(const std::string& name);

}  // namespace tilewise::tests
