// A group of devices as one: its memory lies on all of them, and its variants, the files <algorithm>_group.cpp, run on
// each with its part.
#pragma once

#include "backend/cpu/cpu_executor.hpp"
#include "backend/group/group_rank.hpp"

namespace tilewise::backend::group {

class meeting;

/// Whether a name is a group's: members joined by '+', "N*member", or "backend:*" for all of its devices.
bool is_group(std::string_view name);

/// Opens the members, each with a queue of its own. CPU members share the threads of the machine, or the number that
/// the options name. Throws as open does, and `invalid_argument` for a name without members.
std::shared_ptr<backend::device> make_device(std::string_view name, const open_options& options);

/// The members in order of rank. `device` must be a group.
std::span<const std::shared_ptr<backend::device>> members_of(const backend::device& device);

/// The queue of a group in one process.
class queue final : public backend::queue {
 public:
  queue(const backend::device& owner, std::span<const std::shared_ptr<backend::device>> members);
  ~queue() override;

  /// Calls work(rank) on a thread for each rank. Throws the first failure, once all have ended.
  void on_each_rank(const std::function<void(const rank&)>& work);

  memory allocate(std::uint64_t bytes) override;
  memory allocate_rows(std::uint64_t bytes, std::uint64_t row_bytes) override;
  /// With borders of the caller's choice, the first of them 0, the last one the number of bytes.
  memory allocate_parts(std::vector<std::uint64_t> border);
  void release(memory what) noexcept override;
  memory wrap(void* native, std::uint64_t bytes) override;
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  void download(void* to, memory from, std::uint64_t bytes) override;
  void copy(memory to, memory from, std::uint64_t bytes) override;
  void finish() override;
  void start_clock() override;
  double stop_clock() override;

 private:
  std::vector<std::shared_ptr<backend::device>> members_;
  std::unique_ptr<cpu::executor> team_;
  std::int64_t clock_started_ = 0;
};

/// The group queue behind `q`: the first line of every variant's `run`.
inline queue& enter(backend::queue& q) { return static_cast<queue&>(q); }

}  // namespace tilewise::backend::group
