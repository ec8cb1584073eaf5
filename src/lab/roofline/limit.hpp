// SPDX-License-Identifier: Apache-2.0
// The most that a device can do, measured in the same rounds: its own plain copy, to which bandwidth is compared, and
// its multiply-adds, for work bound by arithmetic. What bounds a problem is the one that needs longer for its
// compulsory bytes and its counted operations: the smaller roof of Williams, Waterman and Patterson (2009).
//
// The limits are variants, with rows, times and records like what is compared with them. What they leave in memory is
// not a result, so none of it is verified.
#pragma once

#include "record/record.hpp"

#include <vector>

namespace tilewise::lab {

using record::ceiling;

/// What its operations are done with at most, by its order (docs/order.md). None where they are comparisons.
std::optional<ceiling> arithmetic_of(const registry::algorithm& what);

/// What may bound it, in the order of measuring. A copy of an input says little of a product of matrices, whose output
/// may be any size; arithmetic bounds nothing that does less than one operation for each byte.
std::vector<ceiling> ceilings_of(const registry::problem& p);

/// Bytes that a copy of the problem's first input moves: each read once and written once.
double copied_bytes(const registry::problem& p);

/// What is claimed about a case's speed.
struct claimed_speed {
  registry::claim order;
  ceiling bound_by;
  double share_of_ceiling;
  std::uint64_t cache_bytes;  // of the device; 0: unknown
};

/// Whether that can be true. A cache that allocates on write moves a written line twice, so a copy of n bytes may cost
/// the memory 3 n where 2 n are counted, and work that only reads may beat it by half. 5 % is allowed for noise. What
/// fits in the last-level cache is not judged by a copy: there the call takes longer than moving the bytes. A variant
/// with its own order is not judged by the multiply-adds: it may compute on another unit, such as TF32.
bool is_plausible(const registry::problem& p, const claimed_speed& what);

/// "copy/cpu", "fma/cuda": what may bound the problem on a backend's devices. A copy runs on operand_sets::copied.
std::vector<const registry::variant*> limits_of(const registry::problem& p, std::string_view backend);
/// "copy/link" and "copy/files", the limits of whole jobs: what must be moved is, and nothing is computed. job.hpp
/// moves it.
const registry::variant& limit_of_job(bool of_files);
inline constexpr std::string_view files_backend = "files";
bool is_limit(const registry::variant& v);
/// Which one a limit is.
ceiling ceiling_of(const registry::variant& limit);

/// A call's operations, once it has run: 0 where the device does not support the type.
double operations_of(ceiling arithmetic, dtype type, backend::queue& queue);

}  // namespace tilewise::lab
