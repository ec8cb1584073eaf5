// SPDX-License-Identifier: Apache-2.0
// What a row's record says before anything is measured.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"

namespace tilewise::lab {

/// The case, its device, and the document that asks for it; `skipped` where the row cannot run.
measured describe(const group& what, const row& r, const measuring& how);

/// Of a CPU device.
record::maybe_count threads_of(const row& r);

/// The records of a group of which nothing is measured.
std::vector<measured> describe_unmeasured(const group& what, const measuring& how, record::status state,
                                          const std::string& reason);
std::vector<measured> describe_shortage(const group& what, const measuring& how, const std::string& reason);

}  // namespace tilewise::lab
