// SPDX-License-Identifier: Apache-2.0
// What no record says of how a variant computes, and a reader must know before its speed is judged. It is told by name,
// since a report has records of backends and of other people's code that its build may lack.
#pragma once

#include "report/model.hpp"

namespace tilewise::report {

/// Whether its method needs fewer operations than the definition's, which are counted, by more than a factor: then they
/// are no limit to it, and only its bytes are.
bool needs_fewer_operations(const row& r);
/// Of a product: whether its operands were rounded to fewer digits than their type has, by what it is off by.
bool is_less_exact(const std::string& algorithm, std::optional<double> error);
inline bool is_less_exact(const row& r) { return is_less_exact(r.algorithm, r.relative_error); }

/// Whether moving its bytes bounds it where no arithmetic was measured. Devices do 5 to 16 multiply-adds of f32, and
/// 1.5 to 16 of f64, while they copy a byte (results/), so a case with more than 8 operations for each byte waits for
/// its arithmetic. Every method has to move its bytes, also one of whose operations nothing is known.
bool is_bound_by_memory_alone(const row& r);

}  // namespace tilewise::report
