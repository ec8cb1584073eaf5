// SPDX-License-Identifier: Apache-2.0
// The entry of every public function into the library, which sets the floating-point mode and translates exceptions.
#pragma once

#include <tilewise/error.hpp>
#include <tilewise/float_mode.hpp>

#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tilewise::base {

/// Runs `call` in the default floating-point mode and returns its result. If memory runs out or a thread cannot be
/// started, throws tilewise::error with `out_of_memory` instead of the standard exception.
template <class Call>
auto enter(const Call& call) {
  try {
    return in_default_float_mode(call);
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory,
                "the host has too little memory left for this call; use fewer elements or free some memory");
  } catch (const std::length_error&) {
    throw error(errc::out_of_memory, "this call needs more memory than any host has; use fewer elements");
  } catch (const std::system_error& e) {
    throw error(errc::out_of_memory, std::string("the host has run out of what this call needs: ") + e.what());
  }
}

/// The error code of an exception; nothing if it is a bug in the library.
inline std::optional<errc> failure_code(const std::exception& thrown) {
  if (const auto* known = dynamic_cast<const error*>(&thrown)) return known->code();
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return errc::out_of_memory;
  return std::nullopt;
}

}  // namespace tilewise::base
