#include "cli/file_roles.hpp"

#include "base/printable.hpp"
#include "io/file_identity.hpp"

#include <tilewise/error.hpp>

namespace tilewise::cli {

void require_distinct_outputs(const std::string& first, const std::string& second) {
  if (!first.empty() && !second.empty() && io::is_same_file(first, second))
    throw error(errc::invalid_argument,
                "two outputs would go to " + base::printable(first) + "; name two different files");
}

void refuse_overwriting(const std::string& input, const std::string& output) {
  if (!input.empty() && !output.empty() && io::is_same_file(input, output))
    throw error(errc::invalid_argument, "the output " + base::printable(output) + " is the input " +
                                            base::printable(input) + "; name another file for the output");
}

}  // namespace tilewise::cli
