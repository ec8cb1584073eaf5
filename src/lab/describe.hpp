// What a row's record says before anything was measured.
#pragma once

#include "lab/group.hpp"
#include "lab/measuring.hpp"
#include "lab/record.hpp"

namespace tilewise::lab {

/// The case, its device, and the document that asks for it; `skipped` where the row cannot run.
record describe(const group& what, const row& r, const measuring& how);

/// The records of a group of which nothing is measured.
std::vector<record> describe_unmeasured(const group& what, const measuring& how, status state,
                                        const std::string& reason);

}  // namespace tilewise::lab
