// SPDX-License-Identifier: Apache-2.0
// The few nouns that every device runtime needs: device, queue, memory, and an owner of memory.
// cpu/, opencl/, cuda/ and openacc/ implement them under the same names, as does group/ over devices of these.
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

/// What a device makes of float operands a, b, c; probe.hpp compares it with what IEEE 754 and the order require.
struct arithmetic {
  std::vector<float> multiply_add;     ///< a * b + c as two operations
  std::vector<float> fused;            ///< fma(a, b, c)
  std::vector<float> sum;              ///< canonical(a + b)
  std::vector<std::int32_t> wrapping;  ///< product and sum of the operands' bits as int32: a * b + c
};

/// A piece of a device's memory: a pointer on CPU, CUDA and OpenACC; on OpenCL a cl_mem and an offset in it; on a group
/// an array with a part on each rank.
struct memory {
  void* base = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  /// On CPU, CUDA and OpenACC, where memory has addresses.
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
  /// The one in-order queue. Throws `device_lost`, with the driver's words, if the device cannot be opened, or in a
  /// child of the process that made the device, unless it is a CPU.
  backend::queue& queue();
  /// Whether this process can use it and give its memory back.
  bool is_usable() const noexcept;

 protected:
  virtual std::unique_ptr<backend::queue> make_queue() = 0;

 private:
  device_info facts_;
  const unsigned forks_ = forks_so_far();
  std::once_flag opened_;
  std::unique_ptr<backend::queue> queue_;
};

/// An opened device with one in-order queue. Calls return when the work is enqueued, except where said otherwise.
class queue {
 public:
  explicit queue(const backend::device& owner) : owner_(owner) {}
  virtual ~queue() = default;
  queue(const queue&) = delete;

  const backend::device& device() const { return owner_; }

  /// From a pool: no driver call in the steady state. Aligned to 256 bytes. Zero bytes give a valid memory that must
  /// not be dereferenced. Throws `out_of_memory` with the need and the limit.
  virtual memory allocate(std::uint64_t bytes) = 0;
  /// The same, of rows of so many bytes, which a queue over several devices does not cut.
  virtual memory allocate_rows(std::uint64_t bytes, std::uint64_t row_bytes) {
    (void)row_bytes;
    return allocate(bytes);
  }
  /// Back to the pool once the work enqueued so far has finished with it. Never fails.
  virtual void release(memory what) noexcept = 0;
  /// Wraps the caller's memory; releasing the result leaves that memory alone.
  virtual memory wrap(void* native, std::uint64_t bytes) = 0;
  virtual memory wrap_rows(void* native, std::uint64_t bytes, std::uint64_t row_bytes) {
    (void)row_bytes;
    return wrap(native, bytes);
  }
  /// Where memory lies in the whole that the caller has made it a part of: what overlaps has one base.
  virtual memory in_whole(memory part) const { return part; }
  /// Whether host memory that is wrapped is worked on where it lies.
  virtual bool works_on_host_memory() const { return false; }

  virtual void upload(memory to, const void* from, std::uint64_t bytes) = 0;  // `from` may change once it returns
  virtual void download(void* to, memory from, std::uint64_t bytes) = 0;      // waits
  virtual void copy(memory to, memory from, std::uint64_t bytes) = 0;         // the device's own plain copy
  /// The same of `rows` rows of `width` bytes, which begin `to_stride` and `from_stride` bytes apart.
  virtual void copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride,
                         std::uint64_t width, std::uint64_t rows);
  /// Whether `copy` may read memory of this other queue, once that has finished.
  virtual bool reaches(const queue& other) const { return &other == this; }
  /// Lets another queue's device read this one's memory directly, where the driver can.
  virtual void open_to(const queue& other) { (void)other; }
  /// Whether this queue's work may read and write the other's memory where it lies.
  virtual bool reads(const queue& other) const { return &other == this; }
  /// Marks the end of what has been enqueued so far, for other queues to follow. Of the marks of a queue the last
  /// sixteen count. A queue that others cannot follow waits here.
  virtual unsigned leave_mark() {
    finish();
    return 0;
  }
  /// Copies that `enqueue` enqueues begin after what has been enqueued so far and, where the device can, run beside
  /// what is enqueued later. Returns a mark, for this queue to follow before its work uses what they bring.
  virtual unsigned beside(const std::function<void()>& enqueue) {
    enqueue();
    return 0;
  }
  /// Work enqueued here from now on begins after the other queue's work up to its mark. Does not wait.
  virtual void follow(const queue& other, unsigned mark) { (void)other, (void)mark; }
  /// Threads for large transfers beside the queue's own work; null where the device works on the host's memory.
  virtual transfer_team* transfers() { return nullptr; }
  /// Independent chains of multiply-adds in registers, fused where the type is a float, on the fastest unit that keeps
  /// the order's bits, and so many that the cost of the call itself is negligible. Returns the number of
  /// operations, two per multiply-add; 0 where the device does not support the type.
  virtual double multiply_add(dtype type) {
    (void)type;
    return 0;
  }
  virtual void finish() = 0;  // waits for all of it

  /// Tables that kernels read: what `fill` wrote when this key was first requested. They live as long as the queue.
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

  /// Device time of the work enqueued between the two calls, in nanoseconds, by the device's own clock where it has
  /// one, else the host's. Only the two moments are marked, so the work between them runs as it does without a clock.
  /// stop_clock waits.
  virtual void start_clock() = 0;
  virtual double stop_clock() = 0;
  /// What the last stop_clock took its time from, as records name it.
  virtual std::string_view clock_name() const { return "steady_clock"; }

  /// Runs one element per item through small kernels of this backend; the three spans have equal lengths. A backend
  /// without a probe returns empty vectors.
  virtual arithmetic probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) {
    (void)a, (void)b, (void)c;
    return {};
  }

 private:
  const backend::device& owner_;
  std::map<std::string, memory, std::less<>> constants_;
};

/// Workspace that goes back to the pool at the end of its scope.
class buffer {
 public:
  buffer(queue& q, std::uint64_t bytes) : queue_(q), memory_(q.allocate(bytes)) {}
  buffer(queue& q, std::uint64_t bytes, std::uint64_t row_bytes)
      : queue_(q), memory_(q.allocate_rows(bytes, row_bytes)) {}
  /// Of memory that `q` has allocated or wrapped.
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

/// What a public array holds: the memory goes back to its queue's pool with the last copy of the pointer and keeps the
/// device open until then.
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
  /// Never throws for a missing driver: then the list is empty and `why_none` says why in a sentence.
  std::vector<std::shared_ptr<device>> (*devices)(std::string& why_none);
};

/// The backends of this build: cpu, then those that were enabled.
std::span<const runtime> runtimes();

/// The device's hardware and driver in words, for what is measured of it and kept; of a CPU with its threads.
std::string identity_of(const device_info& info);

/// Opens by name as tilewise::open does.
std::shared_ptr<device> find_device(std::string_view name, const open_options& options);

}  // namespace tilewise::backend
