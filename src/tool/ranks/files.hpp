// SPDX-License-Identifier: Apache-2.0
// The tool as one of several processes that mpirun has started: each reads and writes its range of the files.
#pragma once

#include "io/array_input.hpp"
#include "io/array_output.hpp"
#include "tool/arrays/data_command.hpp"
#include "tool/ranks/voice.hpp"

namespace tilewise::cli {

/// The device for a name that a user gave: in a process of mpirun, a rank with that device; by default on the CPU.
std::string name_for_ranks(const std::string& name);

/// Whether the run is one of several processes' together; a single one reads and writes as without mpirun.
bool is_in_processes(const data_run& run);

/// For -v: how ranks of several processes exchanged what lies on their GPUs; empty for any other run.
std::string way_between_gpus(const data_run& run);

/// Where the results go: into one file, which appears when all ranks are done. Throws `io`, on the rank that cannot
/// write it.
class shared_output {
 public:
  shared_output(data_run& run, const std::string& path, dtype type, std::span<const std::uint64_t> shape);
  io::array_output& file() { return *file_; }
  /// Together: the file takes its place.
  void commit();

 private:
  data_run& run_;
  std::optional<io::array_output> file_;
};

/// Together: runs the problem as planned, from the files' ranges of this rank to the outputs' ranges of this rank. A
/// run without files for its outputs has all of them in each process.
void run_in_processes(const registry::problem& p, std::span<io::array_input* const> inputs,
                      std::span<io::array_output* const> outputs, data_run& run);

}  // namespace tilewise::cli
