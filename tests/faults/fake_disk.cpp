// SPDX-License-Identifier: Apache-2.0
// Preloaded by a test: a disk that fails. FAKE_DISK is "read PATH BYTE" or "write PATH BYTE": from this byte on, files
// whose path contains PATH cannot be read or written; "sync PATH 0": what was written does not reach the disk; "kill -
// N": the process ends once the N-th file has got its name; "room PATH N": so many bytes are free to users, and more to
// root; "map PATH 0": such a file's map has no pages but those asked for; or "full PATH 0": it has none, and none can
// be had. "size PATH N": such a file is told to have N bytes. "bare - 0": it has nothing that a disk need not have:
// files without a name, room set aside for a file, locks, modes, and a number of blocks.
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {

/// The number that is told of such a file; negative where none is.
long long number_told(const char* what, int file) {
  const char* const told = std::getenv("FAKE_DISK");
  char action[8], path[256];
  long long number = 0;
  if (told == nullptr || std::sscanf(told, "%7s %255s %lld", action, path, &number) != 3) return -1;
  char name[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof name);
  const bool is_meant =
      length > 0 && std::string(name, static_cast<std::size_t>(length)).find(path) != std::string::npos;
  return is_meant && action == std::string(what) ? number : -1;
}

/// Whether this is told of such a file, and of bytes before `end`.
bool fails(const char* what, int file, off_t end) {
  const long long byte = number_told(what, file);
  return byte >= 0 && end > byte;
}

template <class Call, class... Arguments>
ssize_t unless(bool failing, const char* call, Arguments... arguments) {
  if (!failing) return reinterpret_cast<Call>(dlsym(RTLD_NEXT, call))(arguments...);
  errno = EIO;
  return -1;
}

/// What comes before the byte, as a disk gives and takes it: the next call fails.
size_t before_failing(const char* what, int file, off_t at, size_t bytes) {
  const char* const told = std::getenv("FAKE_DISK");
  const off_t byte = told == nullptr ? 0 : static_cast<off_t>(std::atoll(std::strrchr(told, ' ')));
  return at < byte && fails(what, file, at + static_cast<off_t>(bytes)) ? static_cast<size_t>(byte - at) : bytes;
}

bool is_bare() {
  const char* const told = std::getenv("FAKE_DISK");
  return told != nullptr && std::string(told) == "bare - 0";
}

template <class Call, class... Arguments>
int unless_bare(int failure, const char* call, Arguments... arguments) {
  if (!is_bare()) return reinterpret_cast<Call>(dlsym(RTLD_NEXT, call))(arguments...);
  errno = failure;
  return -1;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int open(const char* path, int how, ...) {
  va_list more;
  va_start(more, how);
  const mode_t mode = (how & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if ((how & O_TMPFILE) == O_TMPFILE && is_bare()) return errno = EOPNOTSUPP, -1;
  return reinterpret_cast<decltype(&open)>(dlsym(RTLD_NEXT, "open"))(path, how, mode);
}
__attribute__((visibility("default"))) ssize_t pread(int file, void* to, size_t bytes, off_t at) {
  bytes = before_failing("read", file, at, bytes);
  return unless<decltype(&pread)>(fails("read", file, at + static_cast<off_t>(bytes)), "pread", file, to, bytes, at);
}
__attribute__((visibility("default"))) int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  static int renames = 0;
  const int done = static_cast<int>(unless<decltype(&renameat)>(false, "renameat", from_folder, from, to_folder, to));
  const char* const told = std::getenv("FAKE_DISK");
  int last = 0;
  if (told != nullptr && std::sscanf(told, "kill - %d", &last) == 1 && ++renames == last) raise(SIGKILL);
  return done;
}
__attribute__((visibility("default"))) int fstat(int file, struct stat* facts) {
  const int done = static_cast<int>(unless<decltype(&fstat)>(false, "fstat", file, facts));
  if (const long long bytes = number_told("size", file); bytes >= 0) facts->st_size = static_cast<off_t>(bytes);
  return done;
}
__attribute__((visibility("default"))) int fstatfs(int file, struct statfs* facts) {
  const int done = static_cast<int>(unless<decltype(&fstatfs)>(false, "fstatfs", file, facts));
  if (const long long room = number_told("room", file); room >= 0)
    facts->f_bavail = static_cast<unsigned long long>(room) / static_cast<unsigned long long>(facts->f_bsize);
  if (is_bare()) facts->f_blocks = facts->f_bfree = facts->f_bavail = 0;
  return done;
}
__attribute__((visibility("default"))) int fallocate(int file, int how, off_t from, off_t bytes) {
  return unless_bare<decltype(&fallocate)>(EOPNOTSUPP, "fallocate", file, how, from, bytes);
}
__attribute__((visibility("default"))) int flock(int file, int how) {
  return unless_bare<decltype(&flock)>(ENOLCK, "flock", file, how);
}
__attribute__((visibility("default"))) int fchmod(int file, mode_t mode) {
  return unless_bare<decltype(&fchmod)>(EPERM, "fchmod", file, mode);
}
__attribute__((visibility("default"))) void* mmap(void* at, size_t bytes, int allowed, int how, int file, off_t from) {
  const bool is_meant = (how & MAP_SHARED) != 0 && file >= 0 && (fails("map", file, 1) || fails("full", file, 1));
  return reinterpret_cast<decltype(&mmap)>(dlsym(RTLD_NEXT, "mmap"))(at, bytes, is_meant ? PROT_NONE : allowed, how,
                                                                     file, from);
}
__attribute__((visibility("default"))) int madvise(void* at, size_t bytes, int advice) {
#ifdef MADV_POPULATE_WRITE
  const char* const told = std::getenv("FAKE_DISK");
  const bool asks = advice == MADV_POPULATE_WRITE && told != nullptr;
  if (asks && std::strncmp(told, "map ", 4) == 0) mprotect(at, bytes, PROT_READ | PROT_WRITE);
  if (asks && std::strncmp(told, "full ", 5) == 0) return errno = EFAULT, -1;
#endif
  return reinterpret_cast<decltype(&madvise)>(dlsym(RTLD_NEXT, "madvise"))(at, bytes, advice);
}
__attribute__((visibility("default"))) int fsync(int file) {
  return static_cast<int>(unless<decltype(&fsync)>(fails("sync", file, 1), "fsync", file));
}
__attribute__((visibility("default"))) ssize_t write(int file, const void* from, size_t bytes) {
  const off_t at = lseek(file, 0, SEEK_CUR);  // -1 of a pipe, which is not meant
  return unless<decltype(&write)>(fails("write", file, at + static_cast<off_t>(bytes)), "write", file, from, bytes);
}
__attribute__((visibility("default"))) ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
  bytes = before_failing("write", file, at, bytes);
  return unless<decltype(&pwrite)>(fails("write", file, at + static_cast<off_t>(bytes)), "pwrite", file, from, bytes,
                                   at);
}
}
