// SPDX-License-Identifier: Apache-2.0
// reduce and scan of arrays that are read, computed and written chunk by chunk.
#pragma once

#include "io/array_input.hpp"
#include "io/array_output.hpp"
#include "lab/verify/verify.hpp"
#include "tool/arrays/data_command.hpp"

namespace tilewise::cli {

base::scalar_value reduce_in_chunks(const registry::problem& p, io::array_input& x, data_run& run);

/// `sum`, if there is one, gets the results, in order.
void scan_in_chunks(const registry::problem& p, io::array_input& x, io::array_output& y, data_run& run,
                    lab::digest* sum);

}  // namespace tilewise::cli
