// SPDX-License-Identifier: Apache-2.0
// Allocations that fail when they are told to: the operators new, aligned_alloc and what stands on them, of the program
// that links this file and of all libraries in it.
#pragma once

#include <atomic>

namespace tilewise::tests {

/// How many allocations succeed before one fails; negative: none does.
inline std::atomic<long> allocations_left{-1};

/// Whether only aligned_alloc's, which are arrays, count and fail.
inline std::atomic<bool> are_arrays_alone{false};

/// Until it goes, none fails and none counts: for what a caller itself needs.
class no_failures {
 public:
  ~no_failures() { allocations_left = left_; }

 private:
  long left_ = allocations_left.exchange(-1);
};

/// Made by an operator new and not deleted.
inline std::atomic<long> live_allocations{0};

/// Only calls from these addresses count, unless `begin` is null.
struct address_range {
  const char *begin = nullptr, *end = nullptr;
};
inline address_range counted_callers;

/// Of the program or the library that `symbol` is in.
address_range addresses_around(const void* symbol);

}  // namespace tilewise::tests
