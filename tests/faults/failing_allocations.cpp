// SPDX-License-Identifier: Apache-2.0
#include "failing_allocations.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <link.h>

namespace tilewise::tests {

namespace {

bool is_counted(const void* caller) {
  return counted_callers.begin == nullptr || (caller >= counted_callers.begin && caller < counted_callers.end);
}

bool fails(const void* caller) { return allocations_left >= 0 && is_counted(caller) && allocations_left-- == 0; }

/// Allocates memory; null if that fails.
void* made(std::size_t bytes, const void* caller) noexcept {
  if (!are_arrays_alone && fails(caller)) return nullptr;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  live_allocations += memory != nullptr;
  return memory;
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

address_range addresses_around(const void* symbol) {
  struct search {
    std::uintptr_t wanted;
    address_range found;
  } one{reinterpret_cast<std::uintptr_t>(symbol), {}};
  const auto look = [](dl_phdr_info* object, std::size_t, void* told) {
    auto& [wanted, found] = *static_cast<search*>(told);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = object->dlpi_phdr[i];
      const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || wanted < begin || wanted >= begin + part.p_memsz)
        continue;
      found = {reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(begin + part.p_memsz)};
      return 1;
    }
    return 0;
  };
  dl_iterate_phdr(look, &one);
  return one.found;
}

}  // namespace tilewise::tests

#define EXPORTED __attribute__((visibility("default")))

namespace faults = tilewise::tests;

EXPORTED void* operator new(std::size_t bytes) {
  return faults::or_throw(faults::made(bytes, __builtin_return_address(0)));
}
EXPORTED void* operator new[](std::size_t bytes) {
  return faults::or_throw(faults::made(bytes, __builtin_return_address(0)));
}
EXPORTED void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return faults::made(bytes, __builtin_return_address(0));
}
EXPORTED void operator delete(void* what) noexcept {
  faults::live_allocations -= what != nullptr;
  std::free(what);
}
EXPORTED void operator delete(void* what, std::size_t) noexcept { operator delete(what); }
EXPORTED void operator delete[](void* what) noexcept { operator delete(what); }
EXPORTED void operator delete[](void* what, std::size_t) noexcept { operator delete(what); }
EXPORTED void operator delete(void* what, const std::nothrow_t&) noexcept { operator delete(what); }

/// The library allocates arrays with this function. The real one is the system's, or a sanitizer's.
extern "C" EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (faults::fails(__builtin_return_address(0))) return nullptr;
  static const auto real = reinterpret_cast<void* (*)(std::size_t, std::size_t)>(dlsym(RTLD_NEXT, "aligned_alloc"));
  return real(alignment, bytes);
}
