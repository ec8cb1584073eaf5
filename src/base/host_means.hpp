// SPDX-License-Identifier: Apache-2.0
// What the host runs out of, reported as tilewise::error, which is all that the library throws.
#pragma once

#include <tilewise/error.hpp>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tilewise::base {

/// Returns what `call` returns. Throws `out_of_memory` if memory, or a further thread, cannot be had.
template <class Call>
auto within_host_means(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory,
                "the host has too little memory left for this call; use fewer elements or free some memory");
  } catch (const std::length_error&) {
    throw error(errc::out_of_memory, "this call needs more memory than any host has; use fewer elements");
  } catch (const std::system_error& e) {
    throw error(errc::out_of_memory, std::string("the host has run out of what this call needs: ") + e.what());
  }
}

}  // namespace tilewise::base
