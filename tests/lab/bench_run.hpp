// SPDX-License-Identifier: Apache-2.0
// Runs `tilewise bench` within a test, and reads the records that it wrote.
#pragma once

#include "scratch_folder.hpp"
#include "tool/commands.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace tilewise::tests {

struct outcome {
  int exit_code;
  std::vector<nlohmann::json> records;
  std::string file;
};

/// Runs `tilewise bench` on the CPU, as briefly as possible.
inline outcome bench(std::vector<std::string> arguments, const std::string& n = "1000") {
  static const scratch_folder folder;  // one for each process, so that test programs can run side by side
  const std::string file = folder.path() / "r.jsonl";
  std::remove(file.c_str());
  for (const char* more : {"--device", "cpu", "--n", n.c_str(), "--max-time", "0.01", "-q", "-o"})
    arguments.emplace_back(more);
  arguments.push_back(file);
  arguments.insert(arguments.begin(), {"tilewise", "bench"});
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  outcome result{cli::run_tool(static_cast<int>(argv.size()), argv.data()), {}, file};
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) result.records.push_back(nlohmann::json::parse(line));
  return result;
}

/// Whether the file's records follow the schema.
inline bool is_valid(const std::string& file) {
  const std::string folder = TILEWISE_TEST_FOLDER;
  return std::system(("python3 '" + folder + "/report/validate_records.py' '" + folder +
                      "/../src/record/record.schema.json' '" + file + "'")
                         .c_str()) == 0;
}

inline const nlohmann::json& record_of(const outcome& o, const std::string& variant) {
  for (const auto& r : o.records)
    if (r["case"]["variant"] == variant) return r;
  throw std::runtime_error("no record of " + variant);
}

}  // namespace tilewise::tests
