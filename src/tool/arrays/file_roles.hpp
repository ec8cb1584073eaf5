// SPDX-License-Identifier: Apache-2.0
// The files of one command: none may be written over another. Standard input and output are files too where they are
// regular ones; as an array their name is "-".
#pragma once

#include "io/array_input.hpp"

#include <span>
#include <string>

namespace tilewise::cli {

/// Throws `invalid_argument` if two of the outputs would be one file; an empty name is no output.
void require_distinct_outputs(std::span<const std::string> outputs);
/// Throws `invalid_argument` if the output would be written over this input; an empty name is no file.
void refuse_overwriting(const std::string& input, const std::string& output);
/// Throws `invalid_argument` if both inputs are standard input.
void require_distinct_streams(const std::string& first, const std::string& second);
/// Throws `invalid_argument` if the array would be mixed with the fields that --json prints.
void require_free_output(const std::string& output, bool json);

}  // namespace tilewise::cli
