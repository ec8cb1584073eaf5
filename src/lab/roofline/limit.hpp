// SPDX-License-Identifier: Apache-2.0
// The limits of a device, measured in the same rounds as the rows: its own plain copy, for bandwidth, and its
// multiply-adds, for work bound by arithmetic. A problem is bound by the limit that needs longer for its compulsory
// bytes or its counted operations: the smaller roof of Williams, Waterman and Patterson (2009).
//
// A limit is a variant, with rows, times and records like the variants compared with it. What it leaves in memory is
// not a result, so nothing of it is verified.
#pragma once

#include "record/record.hpp"

#include <vector>

namespace tilewise::lab {

using record::ceiling;

/// The fastest kind of arithmetic that the algorithm's order allows (docs/order.md). None if its operations are
/// comparisons.
std::optional<ceiling> arithmetic_of(const registry::algorithm& what);

/// The limits that may bound the problem, in the order of measuring. A matrix product has no copy limit, since its
/// output may have any size beside its input. A problem with less than one operation per byte has no arithmetic limit.
std::vector<ceiling> ceilings_of(const registry::problem& p);

/// Bytes that a copy of the problem's first input moves: each is read once and written once.
double copied_bytes(const registry::problem& p);

/// A speed to judge.
struct claimed_speed {
  registry::claim order;
  ceiling bound_by;
  double share_of_ceiling;
  std::uint64_t cache_bytes;  // of the device's last-level cache; 0: unknown
};

/// Whether the speed can be true, with 5 % allowed for noise. A cache that allocates on write moves a written line
/// twice, so a copy counted as 2 n bytes may cost the memory 3 n, and work that only reads may beat it by half. Data
/// that fit in the last-level cache are not judged by a copy, since there the call takes longer than moving the bytes.
/// A variant with its own order is not judged by the multiply-adds, since it may use another unit, such as TF32.
bool is_plausible(const registry::problem& p, const claimed_speed& what);

/// The limits that may bound the problem on a backend's devices: "copy/cpu", "fma/cuda". The copy runs on
/// operand_sets::copied.
std::vector<const registry::variant*> limits_of(const registry::problem& p, std::string_view backend);
/// The limit of whole jobs, "copy/files" or "copy/link": moves the job's bytes (job.hpp) and computes nothing.
const registry::variant& limit_of_job(bool of_files);
inline constexpr std::string_view files_backend = "files";
bool is_limit(const registry::variant& v);
/// The kind of a limit.
ceiling ceiling_of(const registry::variant& limit);

/// The operations of one call, known once it has run; 0 if the device does not support the type.
double operations_of(ceiling arithmetic, dtype type, backend::queue& queue);

}  // namespace tilewise::lab
