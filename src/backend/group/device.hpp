// SPDX-License-Identifier: Apache-2.0
// A group: several devices used as one. Its memory is split into shards, one per device. Its variants, in the files
// <algorithm>/group*, run on every device with that device's shard.
#pragma once

#include "backend/cpu/executor.hpp"
#include "backend/group/rank.hpp"
#include "backend/group/shares.hpp"

#include <array>
#include <optional>

namespace tilewise::backend::group {

class world;

/// Whether a name means a group: members joined by '+', "N*member", "backend:*" for all of a backend's devices, or
/// "mpi" or "mpi:device" for one device in each process that mpirun has started.
bool is_group(std::string_view name);

/// Opens the members, each with its own queue. All CPU members on a machine, in one process or several, share its
/// threads, or the number in the options. Throws like open(), and `invalid_argument` for a name without members.
std::shared_ptr<backend::device> make_device(std::string_view name, const open_options& options);

/// The members in this process, in order of rank. `device` must be a group.
std::span<const std::shared_ptr<backend::device>> members_of(const backend::device& device);

/// A sentence that warns of a likely mistake, such as two ranks that use the same GPU though the name does not ask for
/// that. Empty if there is none, or if `device` is not a group.
std::string doubt_about(const backend::device& device);

struct group_facts {
  unsigned ranks;
  std::string transport;  // "threads", or the MPI library with its version
};
/// Does not open the group's devices. `device` must be a group.
group_facts facts_of(const backend::device& device);

/// What one rank has sent: bytes, number of exchanges, and their time.
struct travel {
  std::uint64_t bytes = 0, exchanges = 0;
  double ns = 0;
};

/// The queue of a group: one queue for all ranks, or for a group of processes, one in each process.
class queue final : public backend::queue {
 public:
  /// `processes` is null for a group in one process; otherwise there is one member.
  queue(const backend::device& owner, std::span<const std::shared_ptr<backend::device>> members, world* processes);
  ~queue() override;

  /// Calls work(rank) for each rank, on its own thread or in its own process. Throws the first failure, once all have
  /// ended. If the ranks are processes, a failure of one ends all of them.
  void on_each_rank(const std::function<void(const rank&)>& work);
  /// Collective: runs `work`, which uses this queue, and measures every exchange. Returns the bytes that all ranks have
  /// sent, the number of exchanges per rank, and the time of the slowest rank.
  travel metered(const std::function<void()>& work);
  unsigned ranks() const;
  /// The ranks in this process are [first_rank, first_rank + ranks_here).
  unsigned first_rank() const;
  unsigned ranks_here() const { return static_cast<unsigned>(members_.size()); }
  bool is_all_here() const { return processes_ == nullptr; }
  /// Whether all ranks are CUDA devices of this process that can access each other's memory.
  bool has_one_cuda_memory() const;
  /// How data was sent between the GPUs of several processes, and why; empty if none was.
  std::string way_between_gpus() const { return between_gpus_ ? between_gpus_->way_between_gpus() : ""; }

  memory allocate(std::uint64_t bytes) override;
  memory allocate_rows(std::uint64_t bytes, std::uint64_t row_bytes) override;
  /// The same with shards that the caller chooses: rank i gets bytes [border[i], border[i + 1]). The first border is 0,
  /// the last one the number of bytes.
  memory allocate_parts(std::vector<std::uint64_t> border);
  void release(memory what) noexcept override;
  /// Only if all members are CPUs of this process; otherwise throws `unsupported`.
  memory wrap(void* native, std::uint64_t bytes) override;
  memory wrap_rows(void* native, std::uint64_t bytes, std::uint64_t row_bytes) override;
  bool works_on_host_memory() const override;
  /// `from` is the address of the whole data; only the shards of this process's ranks are read.
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  /// Writes all data in every process. download_own writes only the shards of this process's ranks.
  void download(void* to, memory from, std::uint64_t bytes) override;
  void download_own(void* to, memory from, std::uint64_t bytes);
  void copy(memory to, memory from, std::uint64_t bytes) override;
  double multiply_add(dtype type) override;
  /// Collective: the sum of count(queue) over the ranks' own queues.
  double sum_over_ranks(const std::function<double(backend::queue&)>& count);
  void finish() override;
  /// With several processes, the time from when all have begun until the last one is done; the same in each.
  void start_clock() override;
  double stop_clock() override;
  /// The members' clock, if all have the same.
  std::string_view clock_name() const override;

 private:
  void share_by_speed();
  bool has_clocks() const { return clock_name() != backend::queue::clock_name(); }
  void release_parts(const group_array& of) noexcept;
  void run_rank(unsigned member, transport& others, const std::function<void(const rank&)>& work);

  std::vector<std::shared_ptr<backend::device>> members_;
  world* processes_;
  std::unique_ptr<transport> between_gpus_;  // null if there is only the transport of `processes_`
  std::unique_ptr<cpu::executor> team_;
  shares shares_;
  std::int64_t clock_started_ = 0;
  std::vector<travel>* noted_ = nullptr;  // one per member, while metered() runs
};

/// `q` as the queue of a group of several processes; null for any other.
inline queue* over_processes(backend::queue& q) {
  if (q.device().info().backend != "group") return nullptr;
  auto& all = static_cast<queue&>(q);
  return all.is_all_here() ? nullptr : &all;
}

/// The group queue behind `q`, on which every variant of groups runs.
inline queue& enter(backend::queue& q) { return static_cast<queue&>(q); }

/// A GPU's unique identity, which does not depend on the process; all zero for other devices.
using gpu_identity = std::array<char, 16>;
gpu_identity identity_of(const backend::device& device);

/// The first pair of ranks that use the same GPU.
struct sharing {
  unsigned first, second;
};
std::optional<sharing> find_sharing(std::span<const gpu_identity> of_ranks);

}  // namespace tilewise::backend::group
