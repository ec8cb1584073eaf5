// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/file_roles.hpp"

#include "base/printable.hpp"
#include "io/file_identity.hpp"

#include <tilewise/error.hpp>

#include <map>

#include <unistd.h>

namespace tilewise::cli {

namespace {

io::file_identity identity_of(const std::string& name, int stream) {
  return name == io::standard_stream ? io::identity_of_stream(stream) : io::identity_of(name);
}

std::string shown(const std::string& name, const char* stream) {
  return name == io::standard_stream ? stream : base::printable(name);
}

std::string shown_input(const std::string& name) { return shown(name, "standard input"); }
std::string shown_output(const std::string& name) { return shown(name, "standard output"); }

}  // namespace

void require_distinct_outputs(std::span<const std::string> outputs) {
  std::map<io::file_identity, std::string> seen;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    const auto [first, is_new] = seen.emplace(identity_of(output, STDOUT_FILENO), output);
    if (!is_new)
      throw error(errc::invalid_argument, "two outputs would go to one file: " + shown_output(first->second) + " and " +
                                              shown_output(output) + "; each needs its own");
  }
}

void refuse_overwriting(const std::string& input, const std::string& output) {
  if (!input.empty() && !output.empty() && identity_of(input, STDIN_FILENO) == identity_of(output, STDOUT_FILENO))
    throw error(errc::invalid_argument, "the output " + shown_output(output) + " is the input " + shown_input(input) +
                                            "; name another file for the output");
}

void require_distinct_streams(const std::string& first, const std::string& second) {
  if (first == io::standard_stream && second == io::standard_stream)
    throw error(errc::invalid_argument, "standard input holds one array; name a file for the other");
}

void require_free_output(const std::string& output, bool json) {
  if (json && identity_of(output, STDOUT_FILENO) == io::identity_of_stream(STDOUT_FILENO))
    throw error(errc::invalid_argument,
                "--json is printed to standard output, where the array goes; name a file of its own for it");
}

}  // namespace tilewise::cli
