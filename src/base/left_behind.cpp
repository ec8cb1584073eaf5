// SPDX-License-Identifier: Apache-2.0
#include "base/left_behind.hpp"

#include "base/cache_folder.hpp"
#include "base/variable.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::base {

namespace fs = std::filesystem;

namespace {

/// The machine, its boot and the container, as text; empty if the system does not report them.
const std::string& place() {
  static const std::string here = [] {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    struct stat processes {};
    if (boot.empty() || stat("/proc/self/ns/pid", &processes) != 0) return std::string();
    return boot + "-" + std::to_string(processes.st_ino);
  }();
  return here;
}

/// Whether the file "<process>-..." is this user's and nobody uses it, as far as can be known here. Sets `facts`. In
/// another place the process's number means another process, so only the file's age counts.
bool is_left(std::string_view name, const fs::path& path, struct stat& facts) {
  pid_t process = 0;
  const auto number = std::from_chars(name.data(), name.data() + name.size(), process);
  if (number.ec != std::errc() || process <= 0) return false;
  if (lstat(path.c_str(), &facts) != 0 || facts.st_uid != geteuid()) return false;
  constexpr std::time_t day = 24 * 60 * 60;
  const std::string_view rest(number.ptr, name.data() + name.size());
  const bool was_here = rest.starts_with("-" + place() + "-");
  if (was_here && (kill(process, 0) == 0 || errno != ESRCH)) return false;
  return (was_here && !place().empty()) || facts.st_mtim.tv_sec < std::time(nullptr) - day;
}

}  // namespace

std::vector<std::string> temporary_parents() {
  const std::string wished = variable("TMPDIR");
  if (!wished.starts_with('/')) return {"/tmp"};
  if (others_may_rename_in(wished) && !others_may_rename_in("/tmp")) return {"/tmp", wished};
  return {wished, "/tmp"};
}

std::string mark_of_process() { return std::to_string(getpid()) + "-" + place() + "-"; }

void remove_left_behind(const fs::path& folder, std::string_view prefix) {
  std::error_code failure, ignored;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    const std::string name = at->path().filename();
    struct stat facts {};
    if (!name.starts_with(prefix) || !is_left(std::string_view(name).substr(prefix.size()), at->path(), facts))
      continue;
    if (S_ISREG(facts.st_mode)) unlink(at->path().c_str());
    // Otherwise somebody else could rename any folder of ours to this name, to have it removed.
    if (S_ISDIR(facts.st_mode) && !others_may_rename_in(folder, unknown_owner::is_somebody_else))
      fs::remove_all(at->path(), ignored);
  }
}

std::string make_temporary_folder(const std::vector<std::string>& parents, std::string_view prefix) {
  for (const std::string& parent : parents) {
    remove_left_behind(parent, prefix);
    std::string folder = parent + "/" + std::string(prefix) + mark_of_process() + "XXXXXX";
    if (mkdtemp(folder.data()) != nullptr) return folder;
  }
  return "";
}

}  // namespace tilewise::base
