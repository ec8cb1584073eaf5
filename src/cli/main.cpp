// SPDX-License-Identifier: Apache-2.0
#include "base/float_mode.hpp"
#include "cli/commands.hpp"

/// Libraries that the tool is linked with may have changed the mode of this thread.
int main(int argc, char** argv) {
  return tilewise::base::in_default_float_mode([&] { return tilewise::cli::run_tool(argc, argv); });
}
