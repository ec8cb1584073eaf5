// SPDX-License-Identifier: Apache-2.0
// Golden digests: the digests of results when they were recorded. They change only with order_version.
#pragma once

#include "lab/verify/verify.hpp"

#include <string>
#include <vector>

namespace tilewise::tests {

/// A line of digests.txt: "scan.f32 n=17 op=sum kind=inclusive init=none data=wide seed=3 <digest>".
struct golden_line {
  registry::problem problem;
  lab::data_class data;
  std::uint64_t seed;
  std::string digest;
};

std::string golden_path();

/// Adds the digests of the serial definition for algorithms that have none yet. After an intended change of the order,
/// with a new order_version, it writes all of them again.
void write_golden();

/// The lines of the file as it was when this program was built. Throws `io` if the file does not name this
/// order_version, or if no problem matches a line.
std::vector<golden_line> read_golden();

}  // namespace tilewise::tests
