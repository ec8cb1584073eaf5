// SPDX-License-Identifier: Apache-2.0
#include "backend/memory_limit.hpp"

#include "base/printable.hpp"
#include "base/variable.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace tilewise::backend {

std::optional<std::uint64_t> bytes_from(std::string_view text) {
  constexpr std::string_view suffixes = "KMG";
  const char* const end = text.data() + text.size();
  std::uint64_t count = 0;
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  const std::string_view suffix(rest, end);
  const std::size_t power = suffix.empty() ? 0 : suffixes.find(suffix) + 1;
  const bool is_suffix = suffix.empty() || (suffix.size() == 1 && power != 0);
  if (failure != std::errc() || !is_suffix || count == 0 || count > ~std::uint64_t{0} >> (10 * power))
    return std::nullopt;
  return count << (10 * power);
}

std::uint64_t limited_memory(std::uint64_t of_device) {
  const std::string text = base::variable("TILEWISE_DEVICE_MEMORY");
  if (text.empty()) return of_device;
  if (const auto bytes = bytes_from(text)) return std::min(of_device, *bytes);
  throw error(errc::invalid_argument, "TILEWISE_DEVICE_MEMORY is '" + base::printable(text) +
                                          "'; give a number of bytes, such as 512M, or unset it for no limit");
}

}  // namespace tilewise::backend
