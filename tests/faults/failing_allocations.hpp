// SPDX-License-Identifier: Apache-2.0
// Makes allocations fail on demand: operator new, aligned_alloc and all that uses them, in the program that includes
// this file and in all libraries that it loads.
#pragma once

#include <atomic>

namespace tilewise::tests {

/// How many allocations succeed before one fails; negative: none does.
inline std::atomic<long> allocations_left{-1};

/// Whether only aligned_alloc, which allocates arrays, counts and fails.
inline std::atomic<bool> are_arrays_alone{false};

/// While it exists, no allocation fails or counts: for memory that a test itself needs.
class no_failures {
 public:
  ~no_failures() { allocations_left = left_; }

 private:
  long left_ = allocations_left.exchange(-1);
};

/// Allocations by operator new that were not deleted yet.
inline std::atomic<long> live_allocations{0};

/// Only calls from these addresses count, unless `begin` is null.
struct address_range {
  const char *begin = nullptr, *end = nullptr;
};
inline address_range counted_callers;

/// The addresses of the program or library that contains `symbol`.
address_range addresses_around(const void* symbol);

}  // namespace tilewise::tests
