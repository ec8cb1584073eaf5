// SPDX-License-Identifier: Apache-2.0
// How much of a device's memory this process may use.
#pragma once

#include <cstdint>

namespace tilewise::backend {

/// What the device has, or what TILEWISE_DEVICE_MEMORY allows of it: bytes, or with the suffix K, M or G powers of
/// 1024. Problems that need more are computed in pieces, where their algorithm can. Throws `invalid_argument` for any
/// other text.
std::uint64_t limited_memory(std::uint64_t of_device);

}  // namespace tilewise::backend
