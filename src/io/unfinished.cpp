// SPDX-License-Identifier: Apache-2.0
#include "io/unfinished.hpp"

#include <tilewise/error.hpp>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tilewise::io {

struct unfinished_note {
  char path[PATH_MAX];
  std::atomic<bool> is_taken{false}, exists{false};
};

namespace {

/// Enough: a command writes at most two files and has two folders of drivers.
unfinished_note notes[8];

/// A folder's entry in the form of getdents64, since readdir is not safe in a signal handler.
struct entry {
  ino64_t inode;
  off64_t next;
  unsigned short bytes;
  unsigned char type;
  char name[1];  // variable length
};

constexpr int deepest = 8;  // levels of folders, each of which takes 1 KiB of the handler's stack; PoCL has five

/// Removes a file, or a folder with its contents; does not follow links. False if the folder is not empty afterwards,
/// because something new was created in it.
bool remove_below(int parent, const char* name, int depth) noexcept {
  if (unlinkat(parent, name, 0) == 0 || errno != EISDIR || depth == deepest) return true;
  const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return true;
  alignas(entry) char found[1024];
  for (long bytes; (bytes = syscall(SYS_getdents64, folder, found, sizeof found)) > 0;)
    for (long at = 0; at < bytes; at += reinterpret_cast<const entry*>(found + at)->bytes)
      if (const char* const next = found + at + offsetof(entry, name);
          std::strcmp(next, ".") != 0 && std::strcmp(next, "..") != 0)
        remove_below(folder, next, depth + 1);
  close(folder);
  return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY;
}

}  // namespace

unfinished::unfinished() : note_(nullptr) {
  for (unfinished_note& note : notes)
    if (!note.is_taken.exchange(true)) {
      note_ = &note;
      return;
    }
  throw error(errc::io, "too many files are being written at once");
}

unfinished::~unfinished() {
  clear();
  note_->is_taken = false;
}

bool unfinished::set(const std::string& path) {
  if (path.size() >= sizeof note_->path) return false;
  std::strcpy(note_->path, path.c_str());
  note_->exists = true;
  return true;
}

void unfinished::clear() { note_->exists = false; }

void remove_unfinished() noexcept {
  for (const unfinished_note& note : notes)
    for (int again = 0; note.exists && again < 10; ++again)  // a driver's thread may still be writing into it
      if (remove_below(AT_FDCWD, note.path, 0)) break;
}

}  // namespace tilewise::io
