// SPDX-License-Identifier: Apache-2.0
#include "tool/recorded_digests.hpp"

#include "report/format.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace tilewise::embedded {
extern const std::string_view recorded_digests;
}

namespace tilewise::cli {

namespace {

std::string listed(const std::vector<std::string>& machines) { return report::listed(machines, machines.size()); }

}  // namespace

std::optional<recorded_digest> recorded_digest_of(std::string_view algorithm) {
  std::map<std::string, std::string> machines;
  std::istringstream text{std::string(embedded::recorded_digests)};
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string first, name;
    words >> first >> name;
    if (first == "machine") std::getline(words >> std::ws, machines[name]);
    if (first != algorithm) continue;
    recorded_digest found{name, {}};
    while (words >> name) found.machines.push_back(machines.at(name));
    return found;
  }
  return std::nullopt;
}

std::string sentence_on(std::span<const compared_digest> all, const std::string& processor) {
  std::string differences;
  std::vector<std::string> machines = all.front().recorded.value_or(recorded_digest{}).machines;
  for (const compared_digest& c : all) {
    const recorded_digest there = c.recorded.value_or(recorded_digest{});
    std::erase_if(machines, [&](const std::string& name) {
      return std::find(there.machines.begin(), there.machines.end(), name) == there.machines.end();
    });
    if (c.differs())
      differences += c.algorithm + ": the digest is " + c.here + " on this " + processor + ",\n  but " + there.digest +
                     " on " + listed(there.machines) + "\n";
  }
  if (!differences.empty())
    return differences +
           "Please report this to the authors of Tilewise, with all lines above and what\n"
           "`tilewise --version` and `tilewise devices` print.\n";
  if (machines.empty()) return "";
  return (all.size() == 1 ? "The same digest as " : "The same digests as ") + listed(machines) + ".\n";
}

}  // namespace tilewise::cli
