// SPDX-License-Identifier: Apache-2.0
// How a scan of segments is written as a registry::problem: shape {elements, segments}; settings op, kind and init, and
// the number init, as those of a scan.
#pragma once

#include "order/operators.hpp"
#include "scan/problem.hpp"
#include "segment_reduce/offsets.hpp"

namespace tilewise::impl::segment_scan {

const registry::algorithm& segment_scan_algorithm();

using scan::is_exclusive, scan::init_of, scan::starts_from_init, scan::operation_of;
using segment_reduce::offsets_of;
inline std::uint64_t segments_of(const registry::problem& p) { return p.shape[1]; }
/// An empty segment has no results, so any may be empty.
inline segment_reduce::segmentation segmentation_of(const registry::problem& p) { return {p.n(), segments_of(p), {}}; }

/// What every result begins with: the initial value, or the operator's identity, which changes no bit.
template <class T, class Op>
T first_of(const registry::problem& p) {
  return starts_from_init(p) ? init_of<T>(p) : Op::template identity<T>();
}

/// The same scan of n elements that are no segments. Its settings are the first ones of a scan.
inline registry::problem scan_of(const registry::problem& p, std::uint64_t n) {
  registry::problem plain = p;
  plain.what = &scan::scan_algorithm();
  plain.shape = {n};
  return plain;
}

}  // namespace tilewise::impl::segment_scan
