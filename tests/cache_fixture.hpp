// SPDX-License-Identifier: Apache-2.0
// A cache folder for each test.
#pragma once

#include "scratch_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::tests {

/// Sets an environment variable for a scope.
class environment_variable {
 public:
  environment_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~environment_variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// Sets the time of a file's last use to this many seconds ago. Another process may already have removed the file.
inline void age(const std::filesystem::path& file, long seconds) {
  const timespec then{std::time(nullptr) - seconds, 0};
  const timespec both[] = {then, then};
  utimensat(AT_FDCWD, file.c_str(), both, 0);
}

/// Runs `work` in a child, which exits with its result; returns the child's status as wait(2) does.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

class cache_fixture : public testing::Test {
 protected:
  cache_fixture() : folder_(scratch_.path() / "cache"), variable_("TILEWISE_CACHE", folder_.string()) {}

  scratch_folder scratch_;
  std::filesystem::path folder_;
  environment_variable variable_;
};

}  // namespace tilewise::tests
