// SPDX-License-Identifier: Apache-2.0
#include "tool/commands.hpp"

#include <cfenv>

int main(int argc, char** argv) {
  std::fesetenv(
      FE_DFL_ENV);  // libraries linked to the tool may have changed it, and it changes how numbers become text
  return tilewise::cli::run_tool(argc, argv);
}
