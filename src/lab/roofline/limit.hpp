// SPDX-License-Identifier: Apache-2.0
// The limits as variants: a device's plain copy and its multiply-adds have rows, times and records like what is
// compared with them. What they leave in memory is not a result, so none of it is verified.
#pragma once

#include "lab/roofline/ceiling.hpp"

namespace tilewise::lab {

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
