// SPDX-License-Identifier: Apache-2.0
// Bytes as text, RFC 4648.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tilewise::io {

std::string base64(std::span<const std::byte> bytes);

/// Whether the characters, the length and the padding are those of base64. Unused bits before padding are not checked.
bool is_base64(std::string_view text);

}  // namespace tilewise::io
