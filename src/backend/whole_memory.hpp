// SPDX-License-Identifier: Apache-2.0
// Memory that the caller has made as a part of other memory.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend {

/// Where a queue's memory lies in the whole that it is a part of: what overlaps has one base.
memory in_whole(queue& of, memory part);

}  // namespace tilewise::backend
