#include "cli/commands.hpp"

int main(int argc, char** argv) { return tilewise::cli::run_tool(argc, argv); }
