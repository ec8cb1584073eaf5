// SPDX-License-Identifier: Apache-2.0
// Golden digests: what the order gave when they were written. They change only with order_version.
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

/// Adds the serial definition's digests of algorithms that have none yet. After an intended change of the order, which
/// has another order_version, all of them are written anew.
void write_golden();

/// Of the file as it was when this program was built. Throws `io` if it does not name this order_version, or has a line
/// that no problem matches.
std::vector<golden_line> read_golden();

}  // namespace tilewise::tests
