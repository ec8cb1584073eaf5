// SPDX-License-Identifier: Apache-2.0
#include "backend/fork.hpp"

#include <pthread.h>

namespace tilewise::backend {

namespace {

std::atomic<unsigned> forks{0};

}  // namespace

unsigned forks_so_far() noexcept {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  (void)watched;
  return forks.load(std::memory_order_relaxed);
}

std::string used_before_fork(std::string_view what) {
  return std::string(what) +
         " was used before this process was forked, and does not survive that; fork before its first use, or start "
         "another program in the child";
}

}  // namespace tilewise::backend
