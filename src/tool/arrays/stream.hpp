// SPDX-License-Identifier: Apache-2.0
// reduce and scan chunk by chunk: all threads of a CPU device read, compute and write at once. A thread has one chunk
// at a time, in its own cache, so an array of any size takes the same few megabytes.
#pragma once

#include "io/array_input.hpp"
#include "io/array_output.hpp"
#include "lab/verify/verify.hpp"
#include "tool/arrays/data_command.hpp"

namespace tilewise::cli {

/// Whether a run may go chunk by chunk: the variant is a CPU device's own choice, and the array is in C order and long
/// enough.
bool may_stream(const io::array_input& from, const data_run& run, const common_options& options);

base::scalar_value reduce_in_chunks(const registry::problem& p, io::array_input& x, data_run& run);

/// Adds the results to `sum`, in order, unless it is null.
void scan_in_chunks(const registry::problem& p, io::array_input& x, io::array_output& y, data_run& run,
                    lab::digest* sum);

}  // namespace tilewise::cli
