// An OpenCL driver that misbehaves as soon as it is listed: it crashes, or with TILEWISE_HANGS it never answers.
#include <csignal>
#include <cstring>

#include <unistd.h>

namespace {

int platforms(unsigned, void**, unsigned*) {
#if TILEWISE_HANGS
  for (;;) pause();
#else
  std::signal(SIGSEGV, SIG_DFL);  // also where a sanitizer would report it in its own way
  std::raise(SIGSEGV);
  return -1;
#endif
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clIcdGetPlatformIDsKHR(unsigned count, void** all, unsigned* found) {
  return platforms(count, all, found);
}
__attribute__((visibility("default"))) int clGetPlatformInfo(void*, unsigned, std::size_t, void*, std::size_t*) {
  return -1;
}
__attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  if (std::strcmp(name, "clGetPlatformInfo") == 0) return reinterpret_cast<void*>(&clGetPlatformInfo);
  return nullptr;
}
}
