// The original's params.txt, which is read unchanged.
#pragma once

#include "lab/diffuse_state.hpp"

#include <string>

namespace tilewise::cli {

/// Lines are `key value`, sc has two values; what follows a # is a comment, keys come in any order. Throws `io`: with
/// the line for what is malformed, unknown or there twice, and with all of them for keys that are missing.
lab::diffuse_parameters read_parameters(const std::string& path);

}  // namespace tilewise::cli
