// SPDX-License-Identifier: Apache-2.0
// How a group is to be measured.
#pragma once

#include "lab/jobs/job.hpp"
#include "lab/time/rounds.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace tilewise::lab {

/// What is timed.
enum class mode : std::uint8_t {
  hot,           // the kernel, on data that its last call left in the caches
  cold,          // the kernel, after the caches were flushed
  host_to_host,  // the whole job, from operands in the host's memory to results there
  file_to_file,  // the whole job, from files to a file
};
inline constexpr std::array all_modes{mode::hot, mode::cold, mode::host_to_host, mode::file_to_file};

constexpr std::string_view name_of(mode m) {
  constexpr std::array<std::string_view, all_modes.size()> names{"hot", "cold", "host_to_host", "file_to_file"};
  return names[static_cast<std::size_t>(m)];
}

constexpr bool is_whole_job(mode m) { return m == mode::host_to_host || m == mode::file_to_file; }

struct measuring {
  stop_rule rule;
  /// The longest that a row's first call may take, and the latest that its turn may come after its group began. A row
  /// beyond either limit is left out. The first limit applies on the CPU only, where nothing is compiled. The second is
  /// missed when earlier rows were slow or slow to compile.
  double longest_first_call_ns = std::numeric_limits<double>::infinity(), first_checks_ns = longest_first_call_ns;
  mode what = mode::hot;
  bool with_transfers = true;  // also measure transfers, and what ranks exchange
  /// Only the rows' times: the results were checked before, and nobody asks for the noise floor (`bench --against`).
  bool is_checked = false;
  std::uint64_t seed = 1;
  file_job on_files = {};       // runs a job, for mode::file_to_file
  plain_copies_of copies = {};  // for whole jobs of peers
  round_hooks hooks = {};       // progress is reported between samples, never during one
  /// Called before any work for one row, with its index in the group, and before work for all rows, with none.
  std::function<void(std::optional<std::size_t> row)> on_row = [](std::optional<std::size_t>) {};
};

}  // namespace tilewise::lab
