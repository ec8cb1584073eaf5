// SPDX-License-Identifier: Apache-2.0
// A segment as a sort of its own, on the device that has the whole array.
#pragma once

#include "registry/choose.hpp"
#include "segment_sort/problem.hpp"

namespace tilewise::impl::segment_sort {

inline void sort_alone(const registry::problem& p, const registry::bindings& where, std::uint64_t begin,
                       std::uint64_t n, backend::queue& queue) {
  const registry::problem one = sort_of(p, n);
  const registry::choice how = registry::choose_silently(one, queue.device());
  how.variant->run(one, operands_of(p, where, begin, n), how.tuning, queue);
}

}  // namespace tilewise::impl::segment_sort
