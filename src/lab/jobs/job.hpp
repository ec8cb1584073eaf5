// SPDX-License-Identifier: Apache-2.0
// Whole jobs: how a measured program gets its operands from the host and brings its results back.
#pragma once

#include "call/operands.hpp"
#include "lab/bench/group.hpp"
#include "record/record.hpp"

#include <functional>
#include <map>

namespace tilewise::lab {

/// The problem's operands, each in an .npy file. If there is no output file, the result is a value that is printed.
struct job_files {
  std::vector<std::string> in, out;
};
struct file_outcome {
  call::host_operands printed;
  record::phases phases;
};
/// Runs a row of ours on files, as the tool's commands do.
using file_job = std::function<file_outcome(const registry::problem&, const row&, const job_files&)>;

/// A runtime's own copies between host memory and a device, which anybody can call. They wait until the copy is done.
struct plain_copies {
  void (*upload)(backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes);
  void (*download)(backend::queue& on, void* to, backend::memory from, std::uint64_t bytes);
};
/// By backend. A backend without an entry uses our copies.
using plain_copies_of = std::map<std::string, plain_copies, std::less<>>;

/// The job of a program that calls a peer in the simplest way: it reads whole files on one thread, copies, computes,
/// copies back, and writes on one thread.
class plain_job {
 public:
  plain_job(const registry::problem& p, const row& of, const plain_copies_of& copies);

  record::phases on_files(const job_files& files, call::host_operands& printed) const;
  void on_host(std::span<const void* const> inputs, std::span<void* const> outputs) const;

 private:
  void compute(std::span<const void* const> inputs, std::span<void* const> outputs, record::phases& spent) const;

  const registry::problem& problem_;
  const row& row_;
  plain_copies copies_;
};

/// The limits of jobs. On a CPU device, reads and writes the job's bytes with all threads. For any other device, copies
/// the same bytes to it and back at once. Nothing is computed.
void move_files(const registry::problem& p, const job_files& files, backend::queue& team);
void move_operands(const registry::problem& p, backend::queue& queue, std::span<const void* const> inputs,
                   std::span<void* const> outputs);

}  // namespace tilewise::lab
