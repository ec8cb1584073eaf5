// SPDX-License-Identifier: Apache-2.0
// The code of something that was thrown.
#pragma once

#include <tilewise/error.hpp>

#include <exception>
#include <new>
#include <optional>

namespace tilewise::base {

/// None for a fault of ours.
inline std::optional<errc> failure_code(const std::exception& thrown) {
  if (const auto* known = dynamic_cast<const error*>(&thrown)) return known->code();
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return errc::out_of_memory;
  return std::nullopt;
}

}  // namespace tilewise::base
