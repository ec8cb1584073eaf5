// What the times of a group say beside each other.
#pragma once

#include "lab/group.hpp"
#include "lab/record.hpp"

namespace tilewise::lab {

/// Fills in the limit's rate, plausibility and ratios, once it is known which rows stayed right: nothing is compared
/// with a wrong one. The records belong to the rows in the same order.
void derive(const group& what, std::span<record> records);

}  // namespace tilewise::lab
