// SPDX-License-Identifier: Apache-2.0
// A group of devices as one: its memory lies on all of them, and its variants, the files <algorithm>/group*, run on
// each with its part.
#pragma once

#include "backend/cpu/executor.hpp"
#include "backend/group/rank.hpp"
#include "backend/group/shares.hpp"

#include <array>
#include <optional>

namespace tilewise::backend::group {

class world;

/// Whether a name is a group's: members joined by '+', "N*member", "backend:*" for all of its devices, "mpi" or
/// "mpi:device" for one in each process that mpirun has started.
bool is_group(std::string_view name);

/// Opens the members, each with a queue of its own. CPU members of a process share the threads of the machine, or the
/// number that the options name, as do the processes of a machine. Throws as open does, and `invalid_argument` for a
/// name without members.
std::shared_ptr<backend::device> make_device(std::string_view name, const open_options& options);

/// The members of this process, in order of rank. `device` must be a group.
std::span<const std::shared_ptr<backend::device>> members_of(const backend::device& device);

/// What looks like a mistake about the members, in a sentence: a GPU that serves two ranks, though no name asks for
/// that. Empty for most groups, and for what is none.
std::string doubt_about(const backend::device& device);

struct group_facts {
  unsigned ranks;
  std::string transport;  // "threads", or the library of MPI with its version
};
/// Known before its devices are opened. `device` must be a group.
group_facts facts_of(const backend::device& device);

/// What one rank has sent, in how many exchanges, and how long these took.
struct travel {
  std::uint64_t bytes = 0, exchanges = 0;
  double ns = 0;
};

/// The queue of a group: of all its ranks, or in each process the queue of one of them.
class queue final : public backend::queue {
 public:
  /// `processes` is null for a group in one process; else there is one member.
  queue(const backend::device& owner, std::span<const std::shared_ptr<backend::device>> members, world* processes);
  ~queue() override;

  /// Calls work(rank) for each rank, on a thread or in a process of its own. Throws the first failure, once all have
  /// ended; where they are processes, a failure of this one ends them all.
  void on_each_rank(const std::function<void(const rank&)>& work);
  /// Together: runs `work`, which calls on this queue, with every exchange metered. Returns the bytes that all ranks
  /// have sent, how often each took part in an exchange, and the time of the rank that took longest.
  travel metered(const std::function<void()>& work);
  unsigned ranks() const;
  /// The ranks of this process are the first and as many as it has members.
  unsigned first_rank() const;
  unsigned ranks_here() const { return static_cast<unsigned>(members_.size()); }
  bool is_all_here() const { return processes_ == nullptr; }
  /// Whether the ranks are CUDA devices of this process, each of which reads and writes the memory of all.
  bool has_one_cuda_memory() const;
  /// How what lies on the GPUs of several processes went from one to another, and why; empty if nothing did.
  std::string way_between_gpus() const { return between_gpus_ ? between_gpus_->way_between_gpus() : ""; }

  memory allocate(std::uint64_t bytes) override;
  memory allocate_rows(std::uint64_t bytes, std::uint64_t row_bytes) override;
  /// With borders of the caller's choice, the first of them 0, the last one the number of bytes.
  memory allocate_parts(std::vector<std::uint64_t> border);
  void release(memory what) noexcept override;
  /// Where all members are CPUs of this process; else throws `unsupported`.
  memory wrap(void* native, std::uint64_t bytes) override;
  memory wrap_rows(void* native, std::uint64_t bytes, std::uint64_t row_bytes) override;
  bool works_on_host_memory() const override;
  /// Reads what the ranks of this process take; in each process `from` would hold all of it.
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  /// In every process all of it; download_own only writes what the ranks of this process have.
  void download(void* to, memory from, std::uint64_t bytes) override;
  void download_own(void* to, memory from, std::uint64_t bytes);
  void copy(memory to, memory from, std::uint64_t bytes) override;
  double multiply_add(dtype type) override;
  /// Together: what `count` returns of each rank's own queue.
  double sum_over_ranks(const std::function<double(backend::queue&)>& count);
  void finish() override;
  /// Of several processes: from when all have begun until the last one is done, the same number in each.
  void start_clock() override;
  double stop_clock() override;
  /// The members' own, if all have the same.
  std::string_view clock_name() const override;

 private:
  void share_by_speed();
  bool has_clocks() const { return clock_name() != backend::queue::clock_name(); }
  void release_parts(const group_array& of) noexcept;
  void run_rank(unsigned member, transport& others, const std::function<void(const rank&)>& work);

  std::vector<std::shared_ptr<backend::device>> members_;
  world* processes_;
  std::unique_ptr<transport> between_gpus_;  // null where the processes' own is the only way
  std::unique_ptr<cpu::executor> team_;
  shares shares_;
  std::int64_t clock_started_ = 0;
  std::vector<travel>* noted_ = nullptr;  // of each member, while it is metered
};

/// The queue as one of several processes' together; null for any other.
inline queue* over_processes(backend::queue& q) {
  if (q.device().info().backend != "group") return nullptr;
  auto& all = static_cast<queue&>(q);
  return all.is_all_here() ? nullptr : &all;
}

/// The group queue behind `q`, on which every variant of groups runs.
inline queue& enter(backend::queue& q) { return static_cast<queue&>(q); }

/// Which GPU a rank computes on, whatever its process calls it: no two have the same; all zero for what is no CUDA
/// device.
using gpu_identity = std::array<char, 16>;
gpu_identity identity_of(const backend::device& device);

/// The first two ranks, in the order given, that are on one GPU.
struct sharing {
  unsigned first, second;
};
std::optional<sharing> find_sharing(std::span<const gpu_identity> of_ranks);

}  // namespace tilewise::backend::group
