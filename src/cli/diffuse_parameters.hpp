// The original's params.txt, which is read unchanged.
#pragma once

#include "lab/diffuse_state.hpp"

#include <string>

namespace tilewise::cli {

/// A finite number above 0; false for anything else, which is not `positive_words`.
bool take_positive(const std::string& text, double& to);
inline constexpr const char* positive_words = "a positive number";

/// Lines are `key value`, sc has two values; what follows a # is a comment, keys come in any order. Throws `io`: with
/// the line for what is malformed, unknown or there twice, and with all of them for keys that are missing.
lab::diffuse_parameters read_parameters(const std::string& path);

}  // namespace tilewise::cli
