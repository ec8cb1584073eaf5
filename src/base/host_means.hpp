// What the host runs out of, told as tilewise::error, which is all that the library throws.
#pragma once

#include <tilewise/error.hpp>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tilewise::base {

/// Whatever `call` returns. Throws `out_of_memory` where there is no memory for it, or no further thread.
template <class Call>
auto within_host_means(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory, "the host has no memory left for this call; use fewer elements or free some");
  } catch (const std::length_error&) {
    throw error(errc::out_of_memory, "this call needs more memory than any host has; use fewer elements");
  } catch (const std::system_error& e) {
    throw error(errc::out_of_memory, std::string("the host gives no more of what this call needs: ") + e.what());
  }
}

}  // namespace tilewise::base
