// SPDX-License-Identifier: Apache-2.0
// Work on a range by several threads, which exist only during the call.
#pragma once

#include <cstdint>
#include <functional>

namespace tilewise::base {

/// Calls body(begin, end) for each slice of [0, total); slices start in ascending order. Up to `most_threads` threads,
/// including the caller's, share the slices; fewer if the machine has fewer CPUs or the system allows no more threads.
/// After an exception no further slice starts, and the exception is rethrown here.
void for_each_slice(std::uint64_t total, std::uint64_t slice, unsigned most_threads,
                    const std::function<void(std::uint64_t begin, std::uint64_t end)>& body);

}  // namespace tilewise::base
