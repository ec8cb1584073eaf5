// SPDX-License-Identifier: Apache-2.0
// Arrays that are read, worked on and written chunk by chunk, by all threads of a CPU device at once. A thread has one
// chunk at a time, in its own cache, so an array of any size takes the same few megabytes.
#pragma once

#include "io/array_input.hpp"
#include "tool/arrays/data_command.hpp"

#include <atomic>
#include <functional>

namespace tilewise::cli {

/// Whether a run may go chunk by chunk: a CPU device's own choice of variant, and an array in order that is long
/// enough.
bool may_stream(const io::array_input& from, const data_run& run, const common_options& options);

/// What chunks do one after the other, each when its predecessor has done it.
class turns {
 public:
  template <class Act>
  void take(std::uint64_t number, const Act& act) {
    wait_for(number);
    act();
    end(number);
  }
  /// Nobody waits any longer; a take() that would have to throws `given_up`.
  void give_up();
  struct given_up {};

 private:
  void wait_for(std::uint64_t number) const;
  void end(std::uint64_t number);

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::atomic<std::uint64_t> next_{0};
};

struct chunk {
  std::uint64_t number;
  std::uint64_t begin;  // its first byte among those of all elements
  std::span<std::byte> elements;

  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(elements.data()), elements.size() / sizeof(T)};
  }
};

/// What one thread spent on a chunk, in nanoseconds.
struct chunk_times {
  double computed = 0, written = 0;
};

/// Chunks begin at multiples of a power of two. They are read in parallel, or from a pipe one after the other, and
/// given to `work` on the same thread, which returns what it spent. The first exception ends it all
/// and is thrown here; `give_up` is called then. Fills the times of the run.
void for_each_chunk(io::array_input& from, data_run& run, const std::function<chunk_times(const chunk&)>& work,
                    const std::function<void()>& give_up);

}  // namespace tilewise::cli
