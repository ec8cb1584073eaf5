// SPDX-License-Identifier: Apache-2.0
// The one exception that the library throws.
#pragma once

#include <tilewise/export.hpp>

#include <stdexcept>
#include <string>

namespace tilewise {

/// The kind of an error, for programs. `error::what()` is for people and says what to do.
enum class errc {
  invalid_argument,  ///< the call is invalid: its sizes, names or values
  unsupported,       ///< a valid request that this device, variant or build does not support
  out_of_memory,     ///< the message names the bytes needed and the limit
  overflow,          ///< an exact result does not fit its type
  device_lost,       ///< the device is missing, stopped answering or failed
  build_failed,      ///< a device program did not compile; its log is in the message
  io,                ///< a file could not be read, understood or written
};

/// A call that throws leaves its inputs unchanged and leaks nothing.
class TILEWISE_API error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  errc code() const noexcept { return code_; }  ///< for programs; what() is for people

 private:
  errc code_;
};

}  // namespace tilewise
