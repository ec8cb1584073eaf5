// SPDX-License-Identifier: Apache-2.0
#include "cli/file_roles.hpp"

#include "base/printable.hpp"
#include "io/array_input.hpp"
#include "io/file_identity.hpp"

#include <tilewise/error.hpp>

namespace tilewise::cli {

namespace {

bool is_file(const std::string& name) { return !name.empty() && name != io::standard_stream; }

}  // namespace

void require_distinct_outputs(const std::string& first, const std::string& second) {
  const bool is_one = is_file(first) && is_file(second) ? io::is_same_file(first, second) : first == second;
  if (!first.empty() && is_one)
    throw error(errc::invalid_argument,
                "two outputs would go to " + base::printable(first) + "; name two different files");
}

void refuse_overwriting(const std::string& input, const std::string& output) {
  if (is_file(input) && is_file(output) && io::is_same_file(input, output))
    throw error(errc::invalid_argument, "the output " + base::printable(output) + " is the input " +
                                            base::printable(input) + "; name another file for the output");
}

void require_distinct_streams(const std::string& first, const std::string& second) {
  if (first == io::standard_stream && second == io::standard_stream)
    throw error(errc::invalid_argument, "standard input holds one array; name a file for the other");
}

void require_free_output(const std::string& output, bool json) {
  if (json && output == io::standard_stream)
    throw error(errc::invalid_argument,
                "--json is printed to standard output, where the array goes; name a file for it");
}

}  // namespace tilewise::cli
