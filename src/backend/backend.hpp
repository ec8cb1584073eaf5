// SPDX-License-Identifier: Apache-2.0
// The interface of a backend: device, queue, memory, and buffer, which owns memory. cpu/, opencl/, cuda/ and openacc/
// implement it under the same names. group/ implements it over devices of the others.
#pragma once

#include "backend/fork.hpp"

#include <tilewise/device.hpp>
#include <tilewise/error.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace tilewise::backend {

class lane;
class queue;
class transfer_team;

/// A device's results for float operands a, b, c. probe.hpp compares them with what IEEE 754 and the order require.
struct arithmetic {
  std::vector<float> multiply_add;     ///< a * b + c as two operations
  std::vector<float> fused;            ///< fma(a, b, c)
  std::vector<float> sum;              ///< canonical(a + b)
  std::vector<std::int32_t> wrapping;  ///< a * b + c of the operands' bits as int32
};

/// A range of a device's memory. `base` is a pointer on CPU, CUDA and OpenACC, a cl_mem on OpenCL, and an array with a
/// shard on each rank on a group.
struct memory {
  void* base = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  /// Only on CPU, CUDA and OpenACC, where memory has addresses.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(static_cast<char*>(base) + offset);
  }
  memory at(std::uint64_t further, std::uint64_t length) const { return {base, offset + further, length}; }
};

/// A device that can be opened. Creating one is cheap; its queue is created on first use.
class device {
 public:
  explicit device(device_info facts) : facts_(std::move(facts)) {}
  virtual ~device();
  device(const device&) = delete;

  const device_info& info() const { return facts_; }
  /// The device's one in-order queue. Throws `device_lost`, with the driver's message, if the device cannot be opened.
  /// Also throws in a forked child of the process that made the device, unless it is a CPU.
  backend::queue& queue();
  /// Whether this process can use the device and release its memory: false in a forked child.
  bool is_usable() const noexcept;

 protected:
  virtual std::unique_ptr<backend::queue> make_queue() = 0;

 private:
  device_info facts_;
  const unsigned forks_ = forks_so_far();
  std::once_flag opened_;
  std::unique_ptr<backend::queue> queue_;
};

/// An opened device with one in-order queue. Calls return when the work is enqueued, unless their comment says
/// otherwise.
class queue {
 public:
  explicit queue(const backend::device& owner) : owner_(owner) {}
  virtual ~queue() = default;
  queue(const queue&) = delete;

  const backend::device& device() const { return owner_; }

  /// Takes memory from a pool, without a driver call in the steady state. It is aligned to 256 bytes. Zero bytes give a
  /// valid memory that must not be dereferenced. Throws `out_of_memory` with the bytes needed and the limit.
  virtual memory allocate(std::uint64_t bytes) = 0;
  /// The same for rows of `row_bytes` bytes: a queue over several devices does not split a row.
  virtual memory allocate_rows(std::uint64_t bytes, std::uint64_t row_bytes) {
    (void)row_bytes;
    return allocate(bytes);
  }
  /// Returns the memory to the pool once the work enqueued so far has finished with it. Never fails.
  virtual void release(memory what) noexcept = 0;
  /// Wraps the caller's memory; releasing the result leaves that memory alone.
  virtual memory wrap(void* native, std::uint64_t bytes) = 0;
  virtual memory wrap_rows(void* native, std::uint64_t bytes, std::uint64_t row_bytes) {
    (void)row_bytes;
    return wrap(native, bytes);
  }
  /// The same memory as a range of the whole allocation, so that overlapping memories have the same base.
  virtual memory in_whole(memory part) const { return part; }
  /// Whether the device can compute directly in wrapped host memory.
  virtual bool works_on_host_memory() const { return false; }

  virtual void upload(memory to, const void* from, std::uint64_t bytes) = 0;  // `from` may change once it returns
  virtual void download(void* to, memory from, std::uint64_t bytes) = 0;      // waits
  virtual void copy(memory to, memory from, std::uint64_t bytes) = 0;         // the device's own plain copy
  /// The same for `rows` rows of `width` bytes, which begin `to_stride` and `from_stride` bytes apart.
  virtual void copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride,
                         std::uint64_t width, std::uint64_t rows);
  /// Whether `copy` may read the other queue's memory, once that queue has finished.
  virtual bool reaches(const queue& other) const { return &other == this; }
  /// Lets another queue's device read this queue's memory directly, if the driver supports that.
  virtual void open_to(const queue& other) { (void)other; }
  /// Whether this queue's work may read and write the other's memory directly.
  virtual bool reads(const queue& other) const { return &other == this; }
  /// Marks the end of the work enqueued so far; another queue can wait for it with follow(). Only a queue's last
  /// sixteen marks are valid. A queue that others cannot follow waits here for its work.
  virtual unsigned leave_mark() {
    finish();
    return 0;
  }
  /// Runs copies concurrently: those that `enqueue` enqueues begin after the work enqueued so far and, if the device
  /// can, overlap with work enqueued later. Returns a mark that this queue must follow before its work uses the copies.
  virtual unsigned beside(const std::function<void()>& enqueue) {
    enqueue();
    return 0;
  }
  /// Work enqueued here from now on begins after the other queue's work up to its mark. The caller does not wait.
  virtual void follow(const queue& other, unsigned mark) { (void)other, (void)mark; }
  /// Threads for large transfers that overlap with the queue's own work; null if the device computes in host memory.
  virtual transfer_team* transfers() { return nullptr; }
  /// Measures peak arithmetic: runs independent chains of multiply-adds in registers (fused for floats) on the fastest
  /// unit that keeps the order's bits, for so long that the cost of the call is negligible. Returns the number of
  /// operations, two per multiply-add; 0 if the device does not support the type.
  virtual double multiply_add(dtype type) {
    (void)type;
    return 0;
  }
  virtual void finish() = 0;  // waits for all enqueued work

  /// A table for kernels: on the first request for `key`, `fill` writes it; later requests return the same memory. It
  /// lives as long as the queue.
  template <class Fill>
  memory constants(std::string_view key, std::uint64_t bytes, const Fill& fill) {
    if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
    const memory made = allocate(bytes);
    try {
      fill(made);
    } catch (...) {
      release(made);
      throw;
    }
    return constants_.emplace(key, made).first->second;
  }

  /// Measure the time of the work enqueued between the two calls, in nanoseconds, by the device's own clock if it has
  /// one, else by the host's. Only the begin and the end are marked, so the work runs as without a clock. stop_clock
  /// waits.
  virtual void start_clock() = 0;
  virtual double stop_clock() = 0;
  /// The clock that the last stop_clock read, as records name it.
  virtual std::string_view clock_name() const { return "steady_clock"; }

  /// Computes `arithmetic` with small kernels, one element per work-item. The three spans have equal lengths. A backend
  /// without a probe returns empty vectors.
  virtual arithmetic probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) {
    (void)a, (void)b, (void)c;
    return {};
  }

 private:
  const backend::device& owner_;
  std::map<std::string, memory, std::less<>> constants_;
};

/// Owns workspace and returns it to the pool at the end of its scope.
class buffer {
 public:
  buffer(queue& q, std::uint64_t bytes) : queue_(q), memory_(q.allocate(bytes)) {}
  buffer(queue& q, std::uint64_t bytes, std::uint64_t row_bytes)
      : queue_(q), memory_(q.allocate_rows(bytes, row_bytes)) {}
  /// Owns memory that `q` has allocated or wrapped.
  buffer(queue& q, memory made) : queue_(q), memory_(made) {}
  ~buffer() { queue_.release(memory_); }
  buffer(const buffer&) = delete;
  operator memory() const { return memory_; }
  template <class T>
  T* as() const {
    return memory_.as<T>();
  }

 private:
  queue& queue_;
  memory memory_;
};

/// A shared owner for a public array. The last copy returns the memory to its queue's pool; until then the device stays
/// open.
inline std::shared_ptr<memory> owned(const std::shared_ptr<device>& on, memory what) {
  memory* kept = nullptr;
  try {
    kept = new memory(what);
  } catch (...) {
    on->queue().release(what);
    throw;
  }
  return {kept, [on](memory* m) {
            if (on->is_usable()) on->queue().release(*m);
            delete m;
          }};
}

/// One backend of this build: how to list its devices, and why there are none.
struct runtime {
  std::string_view name;
  /// Without a driver it does not throw: the list is empty and `why_none` is a sentence that says why.
  std::vector<std::shared_ptr<device>> (*devices)(std::string& why_none);
};

/// The backends of this build: cpu, then those that were enabled.
std::span<const runtime> runtimes();

/// The device's hardware and driver (on a CPU also its threads) as text: a key for stored measurements.
std::string identity_of(const device_info& info);

/// Opens a device by name, like tilewise::open.
std::shared_ptr<device> find_device(std::string_view name, const open_options& options);

}  // namespace tilewise::backend
