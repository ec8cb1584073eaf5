// SPDX-License-Identifier: Apache-2.0
// The fields of a row's record that are known before anything is measured.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"

namespace tilewise::lab {

/// A record with the case, its device, and the document that asks for it. Its status is `skipped` if the row cannot
/// run.
measured describe(const group& what, const row& r, const measuring& how);

/// The number of threads of a CPU device; none for any other device.
record::maybe_count threads_of(const row& r);

/// The records of a group of which nothing is measured, all with this status and reason.
std::vector<measured> describe_unmeasured(const group& what, const measuring& how, record::status state,
                                          const std::string& reason);
std::vector<measured> describe_shortage(const group& what, const measuring& how, const std::string& reason);

}  // namespace tilewise::lab
