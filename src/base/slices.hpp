// SPDX-License-Identifier: Apache-2.0
// Work on a range of bytes by several threads that live for one call.
#pragma once

#include <cstdint>
#include <functional>

namespace tilewise::base {

/// Calls body(begin, end) for each slice of [0, total); the slices start in ascending order. Up to `most_threads`
/// threads share them, the caller's among them, and fewer where the machine has fewer CPUs or gives no more threads.
/// After an exception no further slice starts, and it is thrown here.
void for_each_slice(std::uint64_t total, std::uint64_t slice, unsigned most_threads,
                    const std::function<void(std::uint64_t begin, std::uint64_t end)>& body);

}  // namespace tilewise::base
