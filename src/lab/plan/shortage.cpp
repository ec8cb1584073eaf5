// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/shortage.hpp"

#include "io/host_memory.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/time/flush.hpp"

namespace tilewise::lab {

namespace {

/// How many times a group's rows have their operands on the host: once for each device that has its memory there.
std::uint64_t copies_on_host(const group& what) {
  std::uint64_t copies = 0;
  for (std::size_t i = 0; i < what.rows.size(); ++i)
    copies += what.rows[i].on->info().is_cpu && (i == 0 || !share_memory(what.rows[i - 1], what.rows[i]));
  return copies;
}

}  // namespace

std::string memory_shortage(const group& what, const measuring& how) {
  const device_info& info = what.rows.back().on->info();
  const std::uint64_t copies = is_whole_job(how.what) ? info.is_cpu : copies_on_host(what);
  const std::uint64_t once = operand_bytes(what.problem);
  std::uint64_t on_device = once;
  if (how.what == mode::cold) on_device = on_device * cold_sets + 2 * flush_bytes(info);
  // On the host: inputs, expected results, and the poison or the results of one row; a job's files and what it makes
  // of them too.
  const std::uint64_t of_job = is_whole_job(how.what) ? 2 * once : 0;
  const std::uint64_t on_host = 2 * once + of_job + copies * on_device;
  const auto shortage = [](const std::string& where, std::uint64_t need, std::uint64_t free) {
    return need <= free - free / 10 ? std::string()
                                    : where + " would need " + std::to_string(need >> 20) + " MiB and has " +
                                          std::to_string(free >> 20) + " MiB free, a tenth of which is left unused";
  };
  if (std::string reason = shortage("the host", on_host, io::available_host_memory()); !reason.empty()) return reason;
  return info.is_cpu || info.memory == 0 || is_whole_job(how.what) ? "" : shortage(info.name, on_device, info.memory);
}

}  // namespace tilewise::lab
