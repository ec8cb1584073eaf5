// SPDX-License-Identifier: Apache-2.0
// How much of a device's memory this process may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewise::backend {

/// Parses a number of bytes above 0. The suffixes K, M and G mean powers of 1024. Nothing for any other text.
std::optional<std::uint64_t> bytes_from(std::string_view text);

/// The device's memory in bytes, or less if TILEWISE_DEVICE_MEMORY says so. Problems that need more are computed in
/// chunks if their algorithm can. Throws `invalid_argument` if the variable is not a number of bytes.
std::uint64_t limited_memory(std::uint64_t of_device);

}  // namespace tilewise::backend
