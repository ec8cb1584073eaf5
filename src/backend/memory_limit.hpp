// SPDX-License-Identifier: Apache-2.0
// How much of a device's memory this process may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewise::backend {

/// A number of bytes above 0, or with the suffix K, M or G of powers of 1024; none of any other text.
std::optional<std::uint64_t> bytes_from(std::string_view text);

/// What the device has, or what TILEWISE_DEVICE_MEMORY allows of it. Problems that need more are computed in pieces,
/// where their algorithm can. Throws `invalid_argument` where the variable is no number of bytes.
std::uint64_t limited_memory(std::uint64_t of_device);

}  // namespace tilewise::backend
