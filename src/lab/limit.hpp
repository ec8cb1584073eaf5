// The limits as variants: a device's plain copy and its multiply-adds have rows, times and records like what is
// compared with them. What they leave in memory is not a result, so none of it is verified.
#pragma once

#include "lab/ceiling.hpp"

namespace tilewise::lab {

/// "copy/cpu", "fma/cuda": what bounds the algorithm on a backend's devices. A copy runs on operand_sets::copied.
const registry::variant& limit_of(const registry::algorithm& what, std::string_view backend);
/// "copy/link" and "copy/files", the limits of whole jobs: what must be moved is, and nothing is computed. job.hpp
/// moves it.
const registry::variant& limit_of_job(bool of_files);
inline constexpr std::string_view files_backend = "files";
bool is_limit(const registry::variant& v);

}  // namespace tilewise::lab
