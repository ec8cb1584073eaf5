// SPDX-License-Identifier: Apache-2.0
// The measured roofs of a device, kept in the private cache folder until its hardware, its driver, the number of
// threads or this version changes.
#pragma once

#include "record/record.hpp"
#include "tool/drivers/device_use.hpp"

#include <vector>

namespace tilewise::cli {

/// As they were measured; empty if nothing usable is kept for this device.
std::vector<record::result> find_roofs(const backend::device& of);

/// Where there is a private folder to keep them in.
void keep_roofs(const backend::device& of, const std::vector<record::result>& roofs);

}  // namespace tilewise::cli
