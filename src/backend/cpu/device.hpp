// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: an executor, a number of threads and an instruction set. Its queue computes before a call
// returns.
#pragma once

#include "backend/backend.hpp"
#include "backend/cpu/executor.hpp"
#include "backend/cpu/levels.hpp"
#include "backend/cpu/pool.hpp"

#include <functional>
#include <vector>

namespace tilewise::backend::cpu {

std::vector<instruction_set> instruction_sets();  // supported by this build and this machine, best first
std::string_view name_of(instruction_set level);

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none);

/// "cpu" or "cpu:<executor>". Without options, every call returns the same device with the same threads. Throws
/// `device_lost`, with the executors of this build, if there is no such device.
std::shared_ptr<backend::device> make_device(std::string_view name, const open_options& options);

class queue final : public backend::queue {
 public:
  queue(const backend::device& owner, std::unique_ptr<executor> team, unsigned threads, instruction_set level);

  unsigned threads() const { return threads_; }
  instruction_set level() const { return level_; }
  /// Whether `bytes` exceed the last-level cache, so that output should be written past the caches.
  bool exceeds_cache(std::uint64_t bytes) const;

  /// Calls body(tile, worker) for each tile below `count`. A worker, worker < threads(), has one tile at a time, so it
  /// can index workspace. Tiles start in ascending order and run until their body returns, so a body may wait for lower
  /// tiles; but then it must not throw. After an exception no further tile starts, and the exception is rethrown here.
  template <class Body>
  void for_each_tile(std::uint64_t count, const Body& body) {
    if (count > 1 && threads_ > 1) return share_tiles(count, std::cref(body));  // by reference: nothing is allocated
    for (std::uint64_t tile = 0; tile < count; ++tile) body(tile, 0u);
  }

  memory allocate(std::uint64_t bytes) override;
  void release(memory what) noexcept override;
  memory wrap(void* native, std::uint64_t bytes) override;
  bool works_on_host_memory() const override { return true; }
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  void download(void* to, memory from, std::uint64_t bytes) override;
  void copy(memory to, memory from, std::uint64_t bytes) override;
  void copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                 std::uint64_t rows) override;
  bool reaches(const backend::queue& other) const override { return other.device().info().backend == "cpu"; }
  bool reads(const backend::queue& other) const override { return reaches(other); }
  double multiply_add(dtype type) override;
  void finish() override {}
  void start_clock() override;
  double stop_clock() override;
  arithmetic probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) override;

 private:
  void share_tiles(std::uint64_t count, const std::function<void(std::uint64_t, unsigned)>& body);

  pool pool_;
  std::unique_ptr<executor> team_;
  unsigned threads_;
  instruction_set level_;
  std::int64_t clock_started_ = 0;
};

}  // namespace tilewise::backend::cpu
