// The files of one command: none may be written over another.
#pragma once

#include <string>

namespace tilewise::cli {

/// Throws `invalid_argument` if both outputs would be one file; an empty name is no output.
void require_distinct_outputs(const std::string& first, const std::string& second);
/// Throws `invalid_argument` if the output would be written over this input; an empty name is no file.
void refuse_overwriting(const std::string& input, const std::string& output);

}  // namespace tilewise::cli
