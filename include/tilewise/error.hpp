// SPDX-License-Identifier: Apache-2.0
// The one exception that the library throws.
#pragma once

#include <tilewise/export.hpp>

#include <stdexcept>
#include <string>

namespace tilewise {

/// What went wrong, for programs. People read `error::what()`, which says what to do.
enum class errc {
  invalid_argument,  ///< the call makes no sense as it stands: sizes, names, values
  unsupported,       ///< a well-formed request that this device, variant or build cannot serve
  out_of_memory,     ///< the message names the need and the limit
  overflow,          ///< an exact result does not fit its type
  device_lost,       ///< the device is missing, stopped answering or failed
  build_failed,      ///< a device program did not compile; its log is in the message
  io,                ///< a file could not be read, understood or written
};

/// Whatever fails, the inputs of the call are untouched and nothing leaks.
class TILEWISE_API error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  errc code() const noexcept { return code_; }  ///< for programs; what() is for people

 private:
  errc code_;
};

}  // namespace tilewise
