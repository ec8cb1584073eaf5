// SPDX-License-Identifier: Apache-2.0
// The tool as one of several processes that mpirun has started: each process reads and writes its range of the files.
#pragma once

#include "io/array_input.hpp"
#include "io/array_output.hpp"
#include "tool/arrays/data_command.hpp"
#include "tool/ranks/voice.hpp"

namespace tilewise::cli {

/// The device to open for a name that a user gave. Under mpirun, it is a rank with that device, by default the CPU.
std::string name_for_ranks(const std::string& name);

/// Whether several processes share the run. A single process reads and writes as it does without mpirun.
bool is_in_processes(const data_run& run);

/// For -v: how ranks in several processes exchanged data on their GPUs; empty for any other run.
std::string way_between_gpus(const data_run& run);

/// One output file that all ranks write. It appears when all ranks are done. Throws `io` on the rank that cannot write
/// it.
class shared_output {
 public:
  shared_output(data_run& run, const std::string& path, dtype type, std::span<const std::uint64_t> shape);
  io::array_output& file() { return *file_; }
  /// All ranks must call it: the file gets its name.
  void commit();

 private:
  data_run& run_;
  std::optional<io::array_output> file_;
};

/// All ranks must call it. Runs the problem as planned: reads this rank's ranges of the input files and writes its
/// ranges of the output files. Without output files, each process has all of the outputs.
void run_in_processes(const registry::problem& p, std::span<io::array_input* const> inputs,
                      std::span<io::array_output* const> outputs, data_run& run);

}  // namespace tilewise::cli
