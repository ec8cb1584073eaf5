#include "io/replacement_file.hpp"

#include "base/printable.hpp"
#include "io/file_identity.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::io {

/// A temporary file of this process, noted where a signal handler finds it.
struct unfinished_file {
  char path[PATH_MAX];
  std::atomic<bool> is_taken{false}, exists{false};
};

namespace {

/// A command writes two files at most.
unfinished_file unfinished[4];

unfinished_file* take_note() {
  for (unfinished_file& note : unfinished)
    if (!note.is_taken.exchange(true)) return &note;
  throw error(errc::io, "too many files are being written at once");
}

}  // namespace

replacement_file::replacement_file(const std::string& target)
    : target_(destination(target)),
      shown_(base::printable(target)),
      noted_(take_note(), [](unfinished_file* note) { note->is_taken = false; }) {
  struct stat facts {};
  const bool exists = stat(target_.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode))
    throw error(errc::io, shown_ + ": is not a regular file; name a file to write");
  if (exists && access(target_.c_str(), W_OK) != 0) fail("cannot be overwritten");
  const std::string beside =
      (std::filesystem::path(target_).parent_path() / (".tilewise-" + std::to_string(getpid()) + "-")).string();
  for (unsigned attempt = 0; file_ < 0; ++attempt) {
    temporary_ = beside + std::to_string(attempt);
    if (temporary_.size() >= sizeof noted_->path) errno = ENAMETOOLONG, fail("cannot be written");
    std::strcpy(noted_->path, temporary_.c_str());
    noted_->exists = true;
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) break;
    noted_->exists = false;
    if (errno != EEXIST) fail("cannot be written");
  }
  // An existing file's permissions are kept where the file system can.
  if (exists && fchmod(file_, facts.st_mode & 07777) != 0) errno = 0;
}

replacement_file::~replacement_file() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  noted_->exists = false;
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
  noted_->exists = false;
  temporary_.clear();
}

void replacement_file::fail(const char* what) {
  throw error(errc::io, shown_ + ": " + what + ": " + std::strerror(errno));
}

void try_output(const std::string& target) { const replacement_file trial(target); }

void remove_unfinished_files() noexcept {
  for (const unfinished_file& file : unfinished)
    if (file.exists) unlink(file.path);
}

}  // namespace tilewise::io
