// SPDX-License-Identifier: Apache-2.0
// What of a call is measured.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tilewise::lab {

enum class mode : std::uint8_t {
  hot,           // the kernel, on data that its last call left in the caches
  cold,          // the kernel, after the caches were flushed
  host_to_host,  // the whole job, from operands in the host's memory to results there
  file_to_file,  // the whole job, from files to a file
};
inline constexpr std::array all_modes{mode::hot, mode::cold, mode::host_to_host, mode::file_to_file};

constexpr std::string_view name_of(mode m) {
  constexpr std::array<std::string_view, all_modes.size()> names{"hot", "cold", "host_to_host", "file_to_file"};
  return names[static_cast<std::size_t>(m)];
}

constexpr bool is_whole_job(mode m) { return m == mode::host_to_host || m == mode::file_to_file; }

}  // namespace tilewise::lab
