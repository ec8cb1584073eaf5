// SPDX-License-Identifier: Apache-2.0
// Golden digests: what the order gave when they were written. They change only with order_version.
#pragma once

#include "lab/verify.hpp"

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

/// Writes the digests of the serial definition; only after an intended change of the order.
void write_golden();

/// Throws `io` if the file is missing, does not name this order_version, or has a line that no problem matches.
std::vector<golden_line> read_golden();

}  // namespace tilewise::tests
