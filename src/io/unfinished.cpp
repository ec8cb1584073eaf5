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

/// A command writes two files at most, and has two folders of drivers.
unfinished_note notes[8];

/// As getdents64 writes it; readdir is not safe in a signal handler.
struct entry {
  ino64_t inode;
  off64_t next;
  unsigned short bytes;
  unsigned char type;
  char name[1];  // and more
};

void remove_folder(const char* path) noexcept {
  alignas(entry) char found[4096];
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  for (long bytes; (bytes = syscall(SYS_getdents64, folder, found, sizeof found)) > 0;)
    for (long at = 0; at < bytes;) {
      const auto* const next = reinterpret_cast<const entry*>(found + at);
      unlinkat(folder, found + at + offsetof(entry, name), 0);  // of "." and ".." too, which stay
      at += next->bytes;
    }
  close(folder);
  rmdir(path);
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
    if (note.exists && unlink(note.path) != 0 && errno == EISDIR) remove_folder(note.path);
}

}  // namespace tilewise::io
