// SPDX-License-Identifier: Apache-2.0
// Sorts of more than memory holds: runs of the input are sorted and kept in scratch files; then the output is made part
// by part, each of one piece of every run.
#pragma once

#include "io/array_input.hpp"
#include "io/array_output.hpp"
#include "lab/verify/verify.hpp"
#include "tool/arrays/data_command.hpp"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// The keys first; then the values, or, of the outputs only, the indices.
struct sort_files {
  std::vector<io::array_input*> in;
  std::deque<io::array_output> out;
};

/// How much of the host's memory a sort of this many elements takes on the CPU, the arrays that are read included.
std::uint64_t memory_of_sort(const registry::problem& p);

/// How many elements to sort at once: runs of one length, of which any fits. Throws `out_of_memory` if it is hardly
/// any.
std::uint64_t run_length_for(const registry::problem& p, std::uint64_t available);

/// Sorts in runs of this length, on the run's device with its choice. Scratch files in `folder` take as much as the
/// outputs. Adds what is written to `digests`, if there are any.
void sort_in_runs(const registry::problem& p, std::uint64_t run_length, const std::string& folder, sort_files& files,
                  const common_options& options, data_run& run, std::span<lab::digest> digests);

}  // namespace tilewise::cli
