// What cpu_copy_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/cpu_device.hpp"

namespace tilewise::backend::cpu {

// clang-format off
namespace v2 { void copy_streaming(char* to, const char* from, std::uint64_t bytes); }
namespace v3 { void copy_streaming(char* to, const char* from, std::uint64_t bytes); }
namespace v4 { void copy_streaming(char* to, const char* from, std::uint64_t bytes); }
// clang-format on

/// memcpy past the caches.
inline void copy_streaming(instruction_set level, char* to, const char* from, std::uint64_t bytes) {
  at_level(level, v2::copy_streaming, v3::copy_streaming, v4::copy_streaming)(to, from, bytes);
}

}  // namespace tilewise::backend::cpu
