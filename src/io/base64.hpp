// SPDX-License-Identifier: Apache-2.0
// Bytes as text, RFC 4648.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tilewise::io {

std::string base64(std::span<const std::byte> bytes);

/// Whether it has the letters, the length and the padding of base64; bits that padding leaves unused may be anything.
bool is_base64(std::string_view text);

}  // namespace tilewise::io
