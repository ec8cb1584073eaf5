// SPDX-License-Identifier: Apache-2.0
// Whole jobs: how those who are measured get their operands from the host and bring their results back.
#pragma once

#include "lab/bench/group.hpp"
#include "record/record.hpp"
#include "registry/operands.hpp"

#include <functional>
#include <map>

namespace tilewise::lab {

/// The problem's operands, each in an .npy file. Without an output the result is a value that is printed.
struct job_files {
  std::vector<std::string> in, out;
};
struct file_outcome {
  registry::host_operands printed;
  record::phases phases;
};
/// How a row of ours does it: as the tool's commands do.
using file_job = std::function<file_outcome(const registry::problem&, const row&, const job_files&)>;

/// The copies between host memory and a device that its runtime offers to everybody. They wait.
struct plain_copies {
  void (*upload)(backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes);
  void (*download)(backend::queue& on, void* to, backend::memory from, std::uint64_t bytes);
};
/// By backend; where there are none, ours are used.
using plain_copies_of = std::map<std::string, plain_copies, std::less<>>;

/// What a program does that puts a peer to work without further ado: reads whole files on one thread, copies, computes,
/// copies back, and writes on one thread.
class plain_job {
 public:
  plain_job(const registry::problem& p, const row& of, const plain_copies_of& copies);

  record::phases on_files(const job_files& files, registry::host_operands& printed) const;
  void on_host(std::span<const void* const> inputs, std::span<void* const> outputs) const;

 private:
  void compute(std::span<const void* const> inputs, std::span<void* const> outputs, record::phases& spent) const;

  const registry::problem& problem_;
  const row& row_;
  plain_copies copies_;
};

/// The limits of jobs: the same bytes read and written by all threads of a CPU device, and the same bytes on their way
/// to a device and back at once; nothing is computed.
void move_files(const registry::problem& p, const job_files& files, backend::queue& team);
void move_operands(const registry::problem& p, backend::queue& queue, std::span<const void* const> inputs,
                   std::span<void* const> outputs);

}  // namespace tilewise::lab
