// SPDX-License-Identifier: Apache-2.0
// What:   Batcher's odd-even merge sort: the pairs of elements to compare, which do not depend on the data.
// Limits: n elements take about n * log2(n)^2 / 4 comparators.
//
// Sources: Batcher, Sorting networks and their applications, AFIPS 1968; Knuth, TAOCP 3, 5.3.4, for any n.
#pragma once

namespace tilewise::impl::sort {

/// Calls f(low, high) for each comparator that sorts n elements, in order. Runs of 1, 2, 4, ... elements are merged.
template <class F>
constexpr void for_each_comparator(unsigned n, F&& f) {
  for (unsigned run = 1; run < n; run *= 2)
    for (unsigned distance = run; distance > 0; distance /= 2)
      for (unsigned first = distance % run; first + distance < n; first += 2 * distance)
        for (unsigned i = first; i < first + distance && i + distance < n; ++i)
          if (((i ^ (i + distance)) & ~(2 * run - 1)) == 0) f(i, i + distance);  // both in one pair of runs
}

}  // namespace tilewise::impl::sort
