// SPDX-License-Identifier: Apache-2.0
// Large transfers between host memory and a device. They use several threads, since one thread copies more slowly than
// the link.
#pragma once

#include "backend/backend.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>

namespace tilewise::backend {

/// One thread's connection to a device: a stream and two pinned buffers, so that one can be filled while the other is
/// in flight. Only its thread uses it.
class lane {
 public:
  static constexpr std::uint64_t buffer_bytes = 4 << 20;  // 1 MB and 8 MB took a third longer on an H200

  virtual ~lane() = default;
  /// Memory of `buffer_bytes` that the device reads and writes directly.
  virtual std::byte* buffer(unsigned turn) = 0;
  /// False if the system could not pin the buffers; then the driver makes one more copy.
  virtual bool is_pinned() const { return true; }
  /// Whether the device can also access this host memory of the caller directly.
  virtual bool reaches(const void* host) const = 0;
  /// Begin a copy. `host` must not be used until wait(turn) has returned. `turn` is 0 or 1.
  virtual void send(unsigned turn, memory to, const void* host, std::uint64_t bytes) = 0;
  virtual void fetch(unsigned turn, void* host, memory from, std::uint64_t bytes) = 0;
  virtual void wait(unsigned turn) = 0;
};

/// Rows in host memory, `stride` bytes apart. On the device the rows are contiguous.
struct host_rows {
  std::uint64_t bytes, count, stride;

  constexpr host_rows(std::uint64_t bytes_ = 0, std::uint64_t count_ = 1, std::uint64_t stride_ = 0)
      : bytes(bytes_), count(count_), stride(stride_) {}
  constexpr std::uint64_t total() const { return bytes * count; }
  /// The same bytes as one row, if there are no gaps between the rows.
  constexpr host_rows joined() const { return count == 1 || stride == bytes ? host_rows(total()) : *this; }
};

/// A transfer in progress. Its memory must stay valid until wait() or the destructor has returned; both wait for the
/// transfer.
class transfer {
 public:
  struct state;

  transfer() = default;
  explicit transfer(std::shared_ptr<state> under_way) : state_(std::move(under_way)) {}
  transfer(transfer&&) = default;
  transfer& operator=(transfer&& other) noexcept;
  ~transfer();

  /// Waits; throws the transfer's error, if any. Does nothing without a transfer, or after the first wait.
  void wait();

 private:
  std::shared_ptr<state> state_;
};

/// The total time of the transfers in one direction, in nanoseconds. Overlapping times count once.
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

/// Two crews of threads, one for each direction, which start when first needed. They are not ordered with the queue's
/// work. Before a transfer, wait for the work that uses its memory; after it, wait for the transfer before using the
/// memory.
class transfer_team {
 public:
  using open_lane = std::function<std::unique_ptr<lane>()>;

  explicit transfer_team(open_lane open);
  ~transfer_team();
  transfer_team(const transfer_team&) = delete;

  transfer send(memory to, const void* from, host_rows rows);
  transfer fetch(void* to, memory from, host_rows rows);

  /// Whether any transfer so far had no pinned memory and was therefore slower.
  bool lacked_pinned_memory() const { return lacked_pinned_memory_; }

  /// The times of all transfers that have ended.
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
