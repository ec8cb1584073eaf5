// SPDX-License-Identifier: Apache-2.0
// What tells a device from others, for what is measured of it and kept.
#pragma once

#include <tilewise/device.hpp>

#include <string>

namespace tilewise::backend {

/// The device's hardware and driver in words; of a CPU with its threads.
std::string identity_of(const device_info& info);

}  // namespace tilewise::backend
