// SPDX-License-Identifier: Apache-2.0
// Preloaded by a campaign: of the allocations that a program makes from the beginning of its main on, FAKE_MEMORY's
// fails, counted from 0; where FAKE_MEMORY_ARRAYS is set, of those of arrays alone. How many there were is written to
// the file that FAKE_MEMORY_COUNT names.
#include "failing_allocations.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <dlfcn.h>

namespace {

using tilewise::tests::allocations_left;

using main_function = int (*)(int, char**, char**);
main_function real_main = nullptr;
long left_at_first = 0;

int main_with_faults(int argc, char** argv, char** environment) {
  const char* which = std::getenv("FAKE_MEMORY");
  tilewise::tests::are_arrays_alone = std::getenv("FAKE_MEMORY_ARRAYS") != nullptr;
  left_at_first = which == nullptr ? std::numeric_limits<long>::max() : std::atol(which);
  allocations_left = left_at_first;
  return real_main(argc, argv, environment);
}

[[gnu::destructor]] void write_count() {
  const long count = left_at_first - allocations_left.exchange(-1);
  const char* name = std::getenv("FAKE_MEMORY_COUNT");
  std::FILE* file = name == nullptr ? nullptr : std::fopen(name, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%ld\n", count);
  std::fclose(file);
}

}  // namespace

/// The standard library's next entry of a folder: it allocates where it may not throw, and so ends the process.
using entries = std::filesystem::directory_iterator;
#define TILEWISE_INCREMENT "_ZNSt10filesystem7__cxx1118directory_iterator9incrementERSt10error_code"
#define TILEWISE_NEXT "_ZNSt10filesystem7__cxx1118directory_iteratorppEv"
__attribute__((visibility("default"))) entries& increment(entries* of,
                                                          std::error_code& failure) asm(TILEWISE_INCREMENT);
entries& increment(entries* of, std::error_code& failure) {
  const tilewise::tests::no_failures here;
  return reinterpret_cast<decltype(&increment)>(dlsym(RTLD_NEXT, TILEWISE_INCREMENT))(of, failure);
}
__attribute__((visibility("default"))) entries& next(entries* of) asm(TILEWISE_NEXT);
entries& next(entries* of) {
  const tilewise::tests::no_failures here;
  return reinterpret_cast<decltype(&next)>(dlsym(RTLD_NEXT, TILEWISE_NEXT))(of);
}

extern "C" __attribute__((visibility("default"))) int __libc_start_main(main_function program, int argc, char** argv,
                                                                        void (*begin)(), void (*end)(),
                                                                        void (*loader)(), void* stack) {
  real_main = program;
  const auto real = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(main_with_faults, argc, argv, begin, end, loader, stack);
}
