// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/system_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace tilewise::lab {

std::string first_line_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

bool is_virtual(const system_files& system) {
  return system.value_of("/proc/cpuinfo", "flags", ':').find(" hypervisor") != std::string::npos;
}

std::uint64_t system_files::number_in(const std::string& name) const {
  return std::strtoull(first_line(name).c_str(), nullptr, 10);
}

std::string system_files::value_of(const std::string& name, const std::string& key, char separator) const {
  std::ifstream in(path(name));
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t\"", at + 1);
    return begin == line.npos ? "" : line.substr(begin, line.find_last_not_of(" \t\"") - begin + 1);
  }
  return "";
}

std::vector<std::string> system_files::numbered(const std::string& folder, const std::string& beginning) const {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(path(folder), missing)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(beginning) && name.size() > beginning.size() &&
        name.find_first_not_of("0123456789", beginning.size()) == name.npos)
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tilewise::lab
