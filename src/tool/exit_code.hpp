// SPDX-License-Identifier: Apache-2.0
// The exit codes of every command; scripts rely on them.
#pragma once

#include <tilewise/error.hpp>

#include <string_view>

namespace tilewise::cli {

enum class exit_code : int {
  ok = 0,
  internal = 1,       // a fault in Tilewise
  usage = 2,          // the command line is invalid
  wrong_result = 3,   // a result differs from the definition
  unavailable = 4,    // a device, backend or variant is missing, unable or failed to build
  out_of_memory = 5,  // beyond a limit of memory or of a type
  io = 6,             // a file could not be read, understood or written
  regression = 7,     // something got slower than --against, or did or may have under --fail-on
  device_lost = 8,    // a time-out, or a device that stopped working
  interrupted = 130,  // Ctrl-C
};

/// The more serious of two failures; it decides the tool's exit code.
constexpr exit_code graver(exit_code a, exit_code b) {
  for (const exit_code next : {exit_code::wrong_result, exit_code::internal, exit_code::device_lost,
                               exit_code::out_of_memory, exit_code::unavailable, exit_code::io, exit_code::regression})
    if (a == next || b == next) return next;
  return a == exit_code::ok ? b : a;
}

constexpr exit_code exit_code_of(errc code) {
  switch (code) {
    case errc::invalid_argument: return exit_code::usage;
    case errc::unsupported: return exit_code::unavailable;
    case errc::out_of_memory: return exit_code::out_of_memory;
    case errc::overflow: return exit_code::out_of_memory;
    case errc::device_lost: return exit_code::device_lost;
    case errc::build_failed: return exit_code::unavailable;
    case errc::io: return exit_code::io;
  }
  return exit_code::internal;
}

/// The name of an error code in JSON.
constexpr std::string_view name_of(errc code) {
  switch (code) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::unsupported: return "unsupported";
    case errc::out_of_memory: return "out_of_memory";
    case errc::overflow: return "overflow";
    case errc::device_lost: return "device_lost";
    case errc::build_failed: return "build_failed";
    case errc::io: return "io";
  }
  return "internal";
}

}  // namespace tilewise::cli
