#pragma once

#include <filesystem>
#include <string_view>

namespace tilewise::report {

/// Writes a file beside `out` and renames it, so that no reader sees half a file. Throws `io`.
void write_file(const std::filesystem::path& out, std::string_view text);

}  // namespace tilewise::report
