#include "base/left_behind.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::base {

namespace fs = std::filesystem;

namespace {

/// "<prefix><process>-...": the process has ended.
bool has_ended(std::string_view name, std::string_view prefix) {
  pid_t process = 0;
  name.remove_prefix(prefix.size());
  const bool is_number = std::from_chars(name.data(), name.data() + name.size(), process).ec == std::errc();
  return is_number && process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

bool is_unused(const fs::path& path) {
  constexpr std::time_t day = 24 * 60 * 60;
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0 && (S_ISDIR(facts.st_mode) || S_ISREG(facts.st_mode)) &&
         facts.st_uid == geteuid() && facts.st_mtim.tv_sec < std::time(nullptr) - day;
}

void remove_left_behind(const fs::path& folder, std::string_view prefix) {
  std::error_code failure, ignored;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    if (const std::string name = at->path().filename();
        name.starts_with(prefix) && has_ended(name, prefix) && is_unused(at->path()))
      fs::remove_all(at->path(), ignored);
}

}  // namespace tilewise::base
