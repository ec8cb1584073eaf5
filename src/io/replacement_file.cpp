// SPDX-License-Identifier: Apache-2.0
#include "io/replacement_file.hpp"

#include "base/left_behind.hpp"
#include "base/printable.hpp"
#include "io/file_bytes.hpp"
#include "io/file_identity.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

constexpr const char* prefix = ".tilewise-";
constexpr const char* unable = "cannot be written";
constexpr const char* aside = "; write to another folder, and copy the file over this one";

/// In smaller files never more than two threads write at once.
constexpr std::uint64_t worth_mapping = 4 << 20;

/// Removes files that killed processes have left, unless this is the folder of the last call.
void sweep(const std::filesystem::path& folder) {
  static std::filesystem::path last;
  if (folder != last) base::remove_left_behind(folder, prefix);
  last = folder;
}

/// Why an existing file cannot be replaced although it can be written; empty if it can.
std::string why_not_replaced(const std::string& target, const struct stat& facts, int folder) {
  struct statx more {};
  if (statx(AT_FDCWD, target.c_str(), 0, 0, &more) == 0 && (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return "it is mounted there by itself";
  struct stat around {};
  const uid_t me = geteuid();
  const bool is_sticky = fstat(folder, &around) == 0 && (around.st_mode & S_ISVTX) != 0;
  return is_sticky && me != 0 && me != facts.st_uid && me != around.st_uid ? "it is another user's in a shared folder"
                                                                           : "";
}

/// Whether the error means that no file can be created in the folder.
bool is_refused(int failure) { return failure == EACCES || failure == EPERM || failure == EROFS; }

}  // namespace

replacement_file::opened_folder::~opened_folder() {
  if (descriptor >= 0) close(descriptor);
}

replacement_file::replacement_file(const std::string& target)
    : target_(destination(target)), shown_(base::printable(target)) {
  if (is_open_file(target))
    throw error(errc::io, shown_ +
                              ": is open already, and would be replaced; write to - instead, which is standard "
                              "output, or name the file itself");
  struct stat facts {};
  const bool exists = stat(target_.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode))
    throw error(errc::io, shown_ + ": is not a regular file; name a file to write");
  if (exists && access(target_.c_str(), W_OK) != 0) fail("cannot be overwritten");
  folder_.descriptor = open_folder_of(target_);
  if (folder_.descriptor < 0) fail(unable);
  const auto refuse = [&](const std::string& why) {
    throw error(errc::io, shown_ + (exists ? ": cannot be replaced: " : ": cannot be written: ") + why +
                              (exists ? aside : "; name a file in another folder"));
  };
  if (const std::string why = exists ? why_not_replaced(target_, facts, folder_.descriptor) : ""; !why.empty())
    refuse(why);
  const std::filesystem::path folder = (std::filesystem::path(".") / target_).parent_path();
  sweep(folder);
  const std::string beside = (folder / (prefix + base::mark_of_process())).string();
  for (unsigned attempt = 0; file_ < 0; ++attempt) {
    temporary_ = beside + std::to_string(attempt);
    if (!noted_.set(temporary_)) errno = ENAMETOOLONG, fail(unable);
    file_ = openat(folder_.descriptor, name_within_folder(temporary_),
                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ >= 0) break;
    noted_.clear();
    if (is_refused(errno))
      refuse("its folder '" + base::printable(folder.string()) + "' lets no file be created: " + std::strerror(errno));
    if (errno != EEXIST) fail(unable);
  }
  // Keeps an existing file's permissions if the file system can, but not the set-user and set-group bits.
  if (exists && fchmod(file_, facts.st_mode & 0777) != 0) errno = 0;
}

replacement_file::replacement_file(const std::string& target, const std::string& temporary)
    : target_(target), shown_(base::printable(target)), temporary_(temporary), is_owner_(false) {
  file_ = open(temporary_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file_ < 0) fail("cannot be written from this host, which must see the folder as rank 0 does");
  struct stat facts {};
  if (fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink == 1) return;
  close(file_);
  throw error(errc::io, shown_ + ": cannot be written: somebody else has put something in the place of rank 0's file");
}

replacement_file::~replacement_file() {
  if (map_ != nullptr) munmap(map_, size_);
  if (file_ >= 0) close(file_);
  if (is_owner_ && !temporary_.empty()) unlinkat(folder_.descriptor, name_within_folder(temporary_), 0);
  noted_.clear();
}

void replacement_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written at byte " + std::to_string(lseek(file_, 0, SEEK_CUR)));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void replacement_file::resize(std::uint64_t bytes) {
  if (!reserve(file_, bytes)) fail(unable);
  if (is_in_memory(file_)) map_pages(bytes);
}

void replacement_file::map_pages(std::uint64_t bytes) {
  rlimit addresses{};
  if (bytes < worth_mapping || getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY) return;
  void* const map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (map == MAP_FAILED) return;
  map_ = static_cast<std::byte*>(map);
  size_ = bytes;
}

void replacement_file::write_at(std::uint64_t at, std::span<const std::byte> bytes) {
  // The system lets only one thread at a time write to a file. One writing and one waiting thread keep it busy. Further
  // threads write through the map, which is slower but does not wait.
  const bool is_crowded = writing_.fetch_add(1) > 1;
  if (is_crowded && copy_to_map(at, bytes)) bytes = {};
  if (const std::uint64_t written = io::write_at(file_, at, bytes); written != bytes.size())
    fail("cannot be written at byte " + std::to_string(at + written));
  writing_.fetch_sub(1);
}

/// False if the pages cannot be allocated; writing to the file then reports the lack of space.
bool replacement_file::copy_to_map(std::uint64_t at, std::span<const std::byte> bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (map_ == nullptr) return false;
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = at / page * page;
  if (madvise(map_ + first, at + bytes.size() - first, MADV_POPULATE_WRITE) != 0) return false;
  std::memcpy(map_ + at, bytes.data(), bytes.size());
  return true;
#else
  return static_cast<void>(at), static_cast<void>(bytes), false;
#endif
}

void replacement_file::commit() {
  if (fsync(file_) != 0) fail(unable);  // otherwise a power failure could keep the new name but lose the data
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail(unable);
  if (!is_owner_) return;
  if (renameat(folder_.descriptor, name_within_folder(temporary_), folder_.descriptor, name_within_folder(target_)) !=
      0)
    fail("cannot be put in its place");
  noted_.clear();
  temporary_.clear();
}

void replacement_file::fail(const std::string& what) {
  throw error(errc::io, shown_ + ": " + what + ": " + std::strerror(errno));
}

void try_output(const std::string& target) { const replacement_file trial(target); }

}  // namespace tilewise::io
