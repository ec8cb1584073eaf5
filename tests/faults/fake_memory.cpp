// SPDX-License-Identifier: Apache-2.0
// Preloaded by a campaign. It makes one allocation fail: number FAKE_MEMORY, counted from 0 at the beginning of the
// program's main. If FAKE_MEMORY_ARRAYS is set, only allocations of arrays count. The total is written to the file that
// FAKE_MEMORY_COUNT names.
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

/// The standard library's iterators of folders allocate where they may not throw, and so end the process.
#define WITHOUT_FAILURES(name, symbol, result, parameters, arguments)             \
  __attribute__((visibility("default"))) result name parameters asm(symbol);      \
  result name parameters {                                                        \
    const tilewise::tests::no_failures here;                                      \
    return reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, symbol)) arguments; \
  }
#define WITHOUT_FAILURES_OF(iterator, mangled)                                                                        \
  WITHOUT_FAILURES(begin_##iterator,                                                                                  \
                   "_ZNSt10filesystem7__cxx11" mangled "C1ERKNS0_4pathENS_17directory_optionsEPSt10error_code", void, \
                   (std::filesystem::iterator * made, const std::filesystem::path& folder,                            \
                    std::filesystem::directory_options how, std::error_code* failure),                                \
                   (made, folder, how, failure))                                                                      \
  WITHOUT_FAILURES(increment_##iterator, "_ZNSt10filesystem7__cxx11" mangled "9incrementERSt10error_code",            \
                   std::filesystem::iterator&, (std::filesystem::iterator * of, std::error_code & failure),           \
                   (of, failure))                                                                                     \
  WITHOUT_FAILURES(next_##iterator, "_ZNSt10filesystem7__cxx11" mangled "ppEv", std::filesystem::iterator&,           \
                   (std::filesystem::iterator * of), (of))
WITHOUT_FAILURES_OF(directory_iterator, "18directory_iterator")
WITHOUT_FAILURES_OF(recursive_directory_iterator, "28recursive_directory_iterator")

extern "C" __attribute__((visibility("default"))) int __libc_start_main(main_function program, int argc, char** argv,
                                                                        void (*begin)(), void (*end)(),
                                                                        void (*loader)(), void* stack) {
  real_main = program;
  const auto real = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(main_with_faults, argc, argv, begin, end, loader, stack);
}
