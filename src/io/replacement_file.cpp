#include "io/replacement_file.hpp"

#include "io/printable.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

/// The temporary of this process, where a signal handler finds it. One file is written at a time.
char unfinished[PATH_MAX];
std::atomic<bool> is_unfinished{false};

/// What a link points to; the path itself where nothing is there yet.
std::string resolved(const std::string& path) {
  char* found = realpath(path.c_str(), nullptr);
  if (found == nullptr) return path;
  std::string text = found;
  std::free(found);
  return text;
}

}  // namespace

replacement_file::replacement_file(const std::string& target) : target_(resolved(target)), shown_(printable(target)) {
  struct stat facts {};
  const bool exists = stat(target_.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode)) throw error(errc::io, shown_ + ": is no regular file; name a file to write");
  if (exists && access(target_.c_str(), W_OK) != 0) fail("cannot be overwritten");
  const std::string beside =
      (std::filesystem::path(target_).parent_path() / (".tilewise-" + std::to_string(getpid()) + "-")).string();
  for (unsigned attempt = 0; file_ < 0; ++attempt) {
    temporary_ = beside + std::to_string(attempt);
    if (temporary_.size() >= sizeof unfinished) errno = ENAMETOOLONG, fail("cannot be written");
    std::strcpy(unfinished, temporary_.c_str());
    is_unfinished = true;
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) break;
    is_unfinished = false;
    if (errno != EEXIST) fail("cannot be written");
  }
  // An existing file's permissions are kept where the file system can.
  if (exists && fchmod(file_, facts.st_mode & 07777) != 0) errno = 0;
}

replacement_file::~replacement_file() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  is_unfinished = false;
}

void replacement_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void replacement_file::commit() {
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail("cannot be written");
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place");
  is_unfinished = false;
  temporary_.clear();
}

void replacement_file::fail(const char* what) {
  throw error(errc::io, shown_ + ": " + what + ": " + std::strerror(errno));
}

void remove_unfinished_file() noexcept {
  if (is_unfinished) unlink(unfinished);
}

}  // namespace tilewise::io
