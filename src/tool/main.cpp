// SPDX-License-Identifier: Apache-2.0
#include "tool/commands.hpp"

#include <cfenv>

int main(int argc, char** argv) {
  std::fesetenv(
      FE_DFL_ENV);  // libraries that the tool is linked with may have changed it; numbers' texts depend on it as well
  return tilewise::cli::run_tool(argc, argv);
}
