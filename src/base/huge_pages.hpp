// SPDX-License-Identifier: Apache-2.0
// Memory in huge pages where the system gives them: fewer faults when it is first written, and fewer misses when it is
// written all over the place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewise::base {

inline constexpr std::uint64_t huge_page = 2 << 20;

/// For std::free; null if there is no memory. Aligned to 256 bytes, and from one huge page on, to huge pages. Its pages
/// come into being on the threads that first write them.
std::byte* allocate(std::uint64_t bytes) noexcept;

}  // namespace tilewise::base
