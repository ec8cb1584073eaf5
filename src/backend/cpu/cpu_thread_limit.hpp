// Threads that other people's teams are about to start: they end the process where there are none.
#pragma once

#include <tilewise/error.hpp>

#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tilewise::backend::cpu {

/// The sentence of every executor.
[[noreturn]] inline void refuse_threads(std::size_t given, unsigned wanted) {
  throw error(errc::out_of_memory, "the system gives this process " + std::to_string(given) + " threads of the " +
                                       std::to_string(wanted) + " asked for; ask for fewer");
}

/// Throws `out_of_memory` unless `threads`, the caller's among them, can be there at once; they are tried.
inline void require_threads(unsigned threads) {
  std::latch all_tried(1);
  std::vector<std::thread> tried;
  bool enough = true;
  try {
    tried.reserve(threads);
    while (tried.size() + 1 < threads) tried.emplace_back([&] { all_tried.wait(); });
  } catch (const std::system_error&) {
    enough = false;
  }
  all_tried.count_down();
  for (std::thread& one : tried) one.join();
  if (!enough) refuse_threads(tried.size() + 1, threads);
}

}  // namespace tilewise::backend::cpu
