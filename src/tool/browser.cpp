// SPDX-License-Identifier: Apache-2.0
#include "tool/browser.hpp"

#include "base/variable.hpp"
#include "tool/output.hpp"

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace tilewise::cli {

namespace {

bool has_display() { return !base::variable("WAYLAND_DISPLAY").empty() || !base::variable("DISPLAY").empty(); }

/// In a session of its own, so that closing our terminal leaves the browser open, and without our streams, on which it
/// would write.
bool starts(std::string program, std::string argument) {
  posix_spawn_file_actions_t streams;
  posix_spawnattr_t own;
  if (posix_spawn_file_actions_init(&streams) != 0) return false;
  if (posix_spawnattr_init(&own) != 0) return posix_spawn_file_actions_destroy(&streams), false;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&streams, stream, "/dev/null", O_RDWR, 0);
  posix_spawnattr_setflags(&own, POSIX_SPAWN_SETSID);
  char* words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const bool started = posix_spawn(&child, program.c_str(), &streams, &own, words, environ) == 0;
  posix_spawnattr_destroy(&own);
  posix_spawn_file_actions_destroy(&streams);
  return started;
}

/// By the first xdg-open in an absolute folder of PATH: what lies in the current one may be a stranger's.
bool is_opened(const std::string& page) {
  const std::string path = base::variable("PATH");
  const std::vector<std::string> folders = base::absolute_folders(path.empty() ? base::usual_path : path);
  return std::any_of(folders.begin(), folders.end(), [&](const auto& at) { return starts(at + "/xdg-open", page); });
}

}  // namespace

void open_in_browser(const std::string& page) {
  const std::string path = std::filesystem::absolute(page).lexically_normal().string();
  if (has_display() && is_opened(path))
    note("opening " + path);
  else
    note("there is no display, or no xdg-open, to open the page with; it is " + path);
}

}  // namespace tilewise::cli
