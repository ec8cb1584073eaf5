// SPDX-License-Identifier: Apache-2.0
// What every public function enters the library by, and the codes of what it throws.
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

/// Returns what `call` returns, computed in the default floating-point mode. Throws `out_of_memory`, and no other type
/// than tilewise::error, if memory or a further thread cannot be had.
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

/// The code of something that was thrown; none for a fault of ours.
inline std::optional<errc> failure_code(const std::exception& thrown) {
  if (const auto* known = dynamic_cast<const error*>(&thrown)) return known->code();
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return errc::out_of_memory;
  return std::nullopt;
}

}  // namespace tilewise::base
