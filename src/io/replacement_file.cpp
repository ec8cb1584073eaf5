#include "io/replacement_file.hpp"

#include "base/left_behind.hpp"
#include "base/printable.hpp"
#include "io/file_identity.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

constexpr const char* prefix = ".tilewise-";

/// Once for each folder, if it is not the last one's.
void sweep(const std::filesystem::path& folder) {
  static std::filesystem::path last;
  if (folder != last) base::remove_left_behind(folder, prefix);
  last = folder;
}

}  // namespace

replacement_file::replacement_file(const std::string& target)
    : target_(destination(target)), shown_(base::printable(target)) {
  struct stat facts {};
  const bool exists = stat(target_.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode))
    throw error(errc::io, shown_ + ": is not a regular file; name a file to write");
  if (exists && access(target_.c_str(), W_OK) != 0) fail("cannot be overwritten");
  const std::filesystem::path folder = (std::filesystem::path(".") / target_).parent_path();
  sweep(folder);
  const std::string beside = (folder / (prefix + std::to_string(getpid()) + "-")).string();
  for (unsigned attempt = 0; file_ < 0; ++attempt) {
    temporary_ = beside + std::to_string(attempt);
    if (!noted_.set(temporary_)) errno = ENAMETOOLONG, fail("cannot be written");
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) break;
    noted_.clear();
    if (errno != EEXIST) fail("cannot be written");
  }
  // An existing file's permissions are kept where the file system can.
  if (exists && fchmod(file_, facts.st_mode & 07777) != 0) errno = 0;
}

replacement_file::~replacement_file() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  noted_.clear();
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
  if (fsync(file_) != 0) fail("cannot be written");  // a power cut might keep the new name and lose what it names
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail("cannot be written");
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place");
  noted_.clear();
  temporary_.clear();
}

void replacement_file::fail(const char* what) {
  throw error(errc::io, shown_ + ": " + what + ": " + std::strerror(errno));
}

void try_output(const std::string& target) { const replacement_file trial(target); }

}  // namespace tilewise::io
