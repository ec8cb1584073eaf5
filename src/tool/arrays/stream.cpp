// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/stream.hpp"

#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"

#include <algorithm>
#include <exception>
#include <mutex>

namespace tilewise::cli {

namespace {

/// Half of a usual second-level cache, and long enough that calls of the system take little of the time.
constexpr std::uint64_t chunk_bytes = 512 << 10;

/// Shorter arrays are sooner read at once.
constexpr std::uint64_t shortest_stream = 4 * chunk_bytes;

}  // namespace

bool may_stream(const io::array_input& from, const data_run& run, const common_options& options) {
  const bool is_own_choice = options.variant.empty() && options.tuning.empty() && !options.fast;
  return run.device->info().backend == "cpu" && is_own_choice && from.is_c_order() && from.bytes() >= shortest_stream;
}

void turns::wait_for(std::uint64_t number) const {
  for (std::uint64_t now = next_.load(); now != number; now = next_.load()) {
    if (now == never) throw given_up();
    next_.wait(now);
  }
}

void turns::end(std::uint64_t number) {
  next_.compare_exchange_strong(number, number + 1);  // unless all has been given up
  next_.notify_all();
}

void turns::give_up() {
  next_.store(never);
  next_.notify_all();
}

void for_each_chunk(io::array_input& from, data_run& run, const std::function<chunk_times(const chunk&)>& work,
                    const std::function<void()>& give_up) {
  auto& team = static_cast<backend::cpu::queue&>(run.device->queue());
  std::vector<io::host_block> rooms(team.threads());
  turns reading;
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> has_failed{false};
  std::atomic<double> read_ns{0}, computed_ns{0}, written_ns{0};
  const clock::time_point start = clock::now();
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
    has_failed = true;
    reading.give_up();
    give_up();
  };
  team.for_each_tile(ceil_div(from.bytes(), chunk_bytes), [&](std::uint64_t number, unsigned worker) {
    if (has_failed) return;
    try {
      if (rooms[worker].size() == 0) rooms[worker] = io::host_block(chunk_bytes);
      const std::uint64_t begin = number * chunk_bytes, length = std::min(chunk_bytes, from.bytes() - begin);
      const std::span<std::byte> elements = std::span(rooms[worker]).first(length);
      const clock::time_point began = clock::now();
      if (from.is_pipe())
        reading.take(number, [&] { from.read(begin, elements); });
      else
        from.read(begin, elements);
      read_ns += ns_since(began);
      const chunk_times spent = work({number, begin, elements});
      computed_ns += spent.computed;
      written_ns += spent.written;
    } catch (const turns::given_up&) {
      // Another one has failed, and said why.
    } catch (...) {
      fail();
    }
  });
  if (failure) std::rethrow_exception(failure);
  run.times.read = read_ns / team.threads();
  run.times.kernel = run.times.first_call = computed_ns / team.threads();
  run.times.write = written_ns / team.threads();
  run.times.end_to_end = ns_since(start);
}

}  // namespace tilewise::cli
