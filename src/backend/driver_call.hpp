// SPDX-License-Identifier: Apache-2.0
// Records which driver call is running, so that a watchdog can report one that hangs.
#pragma once

#include <atomic>
#include <cstdint>

namespace tilewise::backend {

/// The latest driver call; several threads may overwrite each other's.
struct driver_call {
  const char* text;      ///< as written in the source; nullptr between calls
  std::uint64_t number;  ///< different for each call
};

namespace detail {
inline std::atomic<const char*> call_text{nullptr};
inline std::atomic<std::uint64_t> call_number{0};
inline thread_local bool is_helper = false;
}  // namespace detail

inline driver_call current_driver_call() noexcept {
  return {detail::call_text.load(std::memory_order_relaxed), detail::call_number.load(std::memory_order_relaxed)};
}

/// For a helper thread, while another thread waits for it inside its own `during`. The helper's calls count as
/// progress, but keep the other thread's text.
inline void stay_unwatched() noexcept { detail::is_helper = true; }

/// Runs `call`, recorded as `text`, and returns its result. Must not be nested: the end of one call clears the record.
template <class Call>
auto during(const char* text, const Call& call) {
  if (detail::is_helper) {
    detail::call_number.fetch_add(1, std::memory_order_relaxed);
    return call();
  }
  const struct mark {
    ~mark() { detail::call_text.store(nullptr, std::memory_order_relaxed); }
  } until_it_ends;
  detail::call_number.store(detail::call_number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  detail::call_text.store(text, std::memory_order_relaxed);
  return call();
}

}  // namespace tilewise::backend
