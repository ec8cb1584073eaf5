// SPDX-License-Identifier: Apache-2.0
// Large transfers between host memory and a device: several threads, since one thread's copies are slower than the
// link.
#pragma once

#include "backend/backend.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>

namespace tilewise::backend {

/// One thread's own way to a device: a stream and two pinned buffers, so that one can be filled while the other is in
/// flight. Used by its thread alone.
class lane {
 public:
  static constexpr std::uint64_t buffer_bytes = 4 << 20;  // 1 MB and 8 MB took a third longer on an H200

  virtual ~lane() = default;
  /// Memory of `buffer_bytes` that the device reads and writes directly.
  virtual std::byte* buffer(unsigned turn) = 0;
  /// False where the system pins no more memory; then the driver copies once more.
  virtual bool is_pinned() const { return true; }
  /// Whether the device can do the same with this memory of the caller's.
  virtual bool reaches(const void* host) const = 0;
  /// Begin a copy; `host` may be touched again once wait(turn) has returned. Turns are 0 and 1.
  virtual void send(unsigned turn, memory to, const void* host, std::uint64_t bytes) = 0;
  virtual void fetch(unsigned turn, void* host, memory from, std::uint64_t bytes) = 0;
  virtual void wait(unsigned turn) = 0;
};

/// Rows of the host's memory, `stride` bytes apart; on the device one follows the other.
struct host_rows {
  std::uint64_t bytes, count, stride;

  constexpr host_rows(std::uint64_t bytes_ = 0, std::uint64_t count_ = 1, std::uint64_t stride_ = 0)
      : bytes(bytes_), count(count_), stride(stride_) {}
  constexpr std::uint64_t total() const { return bytes * count; }
  /// The same as one row, where nothing lies between them.
  constexpr host_rows joined() const { return count == 1 || stride == bytes ? host_rows(total()) : *this; }
};

/// A transfer under way. Its memory must stay until it has been waited for, which the destructor does too.
class transfer {
 public:
  struct state;

  transfer() = default;
  explicit transfer(std::shared_ptr<state> under_way) : state_(std::move(under_way)) {}
  transfer(transfer&&) = default;
  transfer& operator=(transfer&& other) noexcept;
  ~transfer();

  /// Throws what went wrong. Does nothing if there is no transfer, or if it has been waited for.
  void wait();

 private:
  std::shared_ptr<state> state_;
};

/// How long the transfers of one direction have been under way, in nanoseconds; what overlaps counts once.
class travel_clock {
 public:
  using time = std::chrono::steady_clock::time_point;
  void add(time begin, time end);
  double ns() const;

 private:
  mutable std::mutex mutex_;
  double ns_ = 0;
  time last_end_{};
};

/// Two crews of threads, one for each direction, that start when they are first needed. They know nothing of the
/// queue's work: wait for what uses the memory before, and for the transfer before anything uses it afterwards.
class transfer_team {
 public:
  using open_lane = std::function<std::unique_ptr<lane>()>;

  explicit transfer_team(open_lane open);
  ~transfer_team();
  transfer_team(const transfer_team&) = delete;

  transfer send(memory to, const void* from, host_rows rows);
  transfer fetch(void* to, memory from, host_rows rows);

  /// Whether any transfer so far had to go without pinned memory, which is slower.
  bool lacked_pinned_memory() const { return lacked_pinned_memory_; }

  /// Of all transfers that have ended.
  double sent_ns() const { return up_time_.ns(); }
  double fetched_ns() const { return down_time_.ns(); }

 private:
  class crew;
  crew& started(std::unique_ptr<crew>& of);

  open_lane open_;
  std::atomic<bool> lacked_pinned_memory_{false};
  travel_clock up_time_, down_time_;
  std::unique_ptr<crew> up_, down_;
};

}  // namespace tilewise::backend
