// SPDX-License-Identifier: Apache-2.0
// Checks the limit of threads before OpenMP or oneTBB starts its own: those end the process if they cannot start them.
#pragma once

#include <tilewise/error.hpp>

#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tilewise::backend::cpu {

/// Throws the error that all executors share.
[[noreturn]] inline void refuse_threads(std::size_t given, unsigned wanted) {
  throw error(errc::out_of_memory, "the system allows this process " + std::to_string(given) + " of the " +
                                       std::to_string(wanted) + " threads requested; request fewer");
}

/// Throws `out_of_memory` unless `threads`, including the caller's, can exist at once. To find out, it starts them.
inline void require_threads(unsigned threads) {
  std::latch all_tried(1);
  std::size_t given = 1;
  {
    std::vector<std::jthread> tried;
    const struct end_of_trial {
      ~end_of_trial() { tried.count_down(); }
      std::latch& tried;
    } at_last{all_tried};
    try {
      tried.reserve(threads);
      for (; given < threads; ++given) tried.emplace_back([&] { all_tried.wait(); });
    } catch (const std::system_error&) {
    }
  }
  if (given < threads) refuse_threads(given, threads);
}

}  // namespace tilewise::backend::cpu
