// SPDX-License-Identifier: Apache-2.0
// Tests made from the catalog, for main.
#pragma once

namespace tilewise::tests {

/// One test for each variant on each device: Bits/scan/opencl:blelloch.opencl:0
void register_bits_tests();

/// "Bits on cpu: 20412 cases, 0 differences" for each backend that ran.
void print_bits_tally();

}  // namespace tilewise::tests
