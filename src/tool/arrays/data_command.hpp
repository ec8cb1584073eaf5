// SPDX-License-Identifier: Apache-2.0
// What the commands that compute on files share: choose a variant, check memory, run, time, describe.
#pragma once

#include "io/array_input.hpp"
#include "io/npy.hpp"
#include "registry/choose.hpp"
#include "tool/commands.hpp"
#include "tool/drivers/device_use.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <span>
#include <vector>

namespace tilewise::cli {

using bytes = io::host_block;

/// The times of one run in nanoseconds. The device measures the kernel; the host's clock measures everything else,
/// until the device is done.
struct run_times {
  double read = 0, write = 0;  // chunk by chunk: the average over the threads
  double h2d = 0;              // a CPU device needs no transfers
  double kernel = 0;           // from the call's first work on the device to its last; only with --json
  double first_call = 0;       // the same call as the host sees it, including compiling and loading
  double d2h = 0;
  double end_to_end = 0;  // the call with its transfers and allocations
};

using clock = std::chrono::steady_clock;
double ns_since(clock::time_point start);

struct data_run {
  device_handle device;
  registry::choice how;
  std::vector<bytes> outputs;
  bool in_pieces = false;  // then steps overlap, so end_to_end is less than their sum
  run_times times;
};

/// Opens the device and chooses the variant that the options name. Throws if the run is impossible, except for lack of
/// memory.
data_run plan_run(const registry::problem& p, const common_options& options);

/// The same, for work that a CPU starts while its input is read; a GPU would start only after the whole input was read.
data_run plan_stream(const registry::problem& p, const common_options& options);

/// Runs the problem as planned. Throws `out_of_memory`, before anything is allocated, if the device or the host cannot
/// hold the operands.
void run_planned(const registry::problem& p, std::span<const bytes* const> inputs, const common_options& options,
                 data_run& run);

/// The same with inputs that are read here. With ranks in several processes, each process reads its range, and has all
/// of the outputs.
void run_from_files(const registry::problem& p, std::span<io::array_input* const> inputs, const common_options& options,
                    data_run& run);

/// The fields of --json that all data commands have: what ran where, and the digest of the result.
nlohmann::ordered_json describe(const registry::problem& p, const device_handle& device, const registry::choice& how,
                                std::span<const std::uint64_t> shape, const std::string& digest);

/// The same, and the times of the run.
nlohmann::ordered_json describe(const registry::problem& p, const data_run& run, std::span<const std::uint64_t> shape,
                                const std::string& digest);

/// Prints the fields and the path of the output on one line.
void print_fields(nlohmann::ordered_json fields, const std::string& output);

/// Runs the problem as planned, writes its only output, and prints its fields for --json. The output file is allocated
/// on disk before the work begins.
exit_code run_to_file(const registry::problem& p, std::span<io::array_input* const> inputs,
                      const common_options& options, data_run run, const std::string& output,
                      std::span<const std::uint64_t> shape);

/// For -v: what was chosen and why, and how long it took.
void tell(const data_run& run, const common_options& options);

}  // namespace tilewise::cli
