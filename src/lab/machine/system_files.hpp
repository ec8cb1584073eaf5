// SPDX-License-Identifier: Apache-2.0
// Reads what Linux says about a machine in /proc, /sys and /etc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tilewise::lab {

/// The first line of a file; empty if there is none.
std::string first_line_of(const std::filesystem::path& file);

/// Reads files below a root folder, which tests replace. A missing file reads as empty, or as 0.
class system_files {
 public:
  explicit system_files(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// `name` is an absolute path on the machine: "/proc/loadavg".
  std::filesystem::path path(const std::string& name) const { return root_ / name.substr(1); }

  std::string first_line(const std::string& name) const { return first_line_of(path(name)); }
  /// The file's first number; 0 also for "max".
  std::uint64_t number_in(const std::string& name) const;
  /// The first value of the key in a "KEY : value" or "KEY=value" file.
  std::string value_of(const std::string& name, const std::string& key, char separator) const;
  /// Names in the folder that consist of `beginning` and digits, as in "cpu0"; sorted.
  std::vector<std::string> numbered(const std::string& folder, const std::string& beginning) const;

 private:
  std::filesystem::path root_;
};

/// Whether the processor reports that it belongs to a virtual machine.
bool is_virtual(const system_files& system);

}  // namespace tilewise::lab
