// SPDX-License-Identifier: Apache-2.0
#include "base/slices.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilewise::base {

void for_each_slice(std::uint64_t total, std::uint64_t slice, unsigned most_threads,
                    const std::function<void(std::uint64_t, std::uint64_t)>& body) {
  const std::uint64_t slices = ceil_div(total, slice);
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::uint64_t i = next++; i < slices; i = next++) body(i * slice, std::min(total, (i + 1) * slice));
    } catch (...) {
      next = slices;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::uint64_t threads = std::min<std::uint64_t>({slices, most_threads, std::thread::hardware_concurrency()});
  std::vector<std::jthread> helpers;
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // The threads that could be started do all the work.
  }
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tilewise::base
