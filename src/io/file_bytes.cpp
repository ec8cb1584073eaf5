// SPDX-License-Identifier: Apache-2.0
#include "io/file_bytes.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

/// Linux reads or writes less than 2 GiB per call.
constexpr std::size_t most_at_once = 1 << 30;

/// Calls move(done, bytes) for the rest until all is done, the file ends or a call fails.
template <class Move>
std::uint64_t move_all(std::uint64_t bytes, const Move& move) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t some = move(done, std::min<std::size_t>(bytes - done, most_at_once));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return done;
    if (some == 0) break;
    done += static_cast<std::uint64_t>(some);
  }
  errno = 0;
  return done;
}

/// Calls move() until it does not fail with EAGAIN; waits before each repetition.
template <class Move>
ssize_t when_ready(int stream, short way, const Move& move) {
  for (;;) {
    const ssize_t some = move();
    if (some >= 0 || errno != EAGAIN) return some;
    pollfd wait{stream, way, 0};
    poll(&wait, 1, -1);
  }
}

}  // namespace

std::uint64_t read_at(int file, std::uint64_t at, std::span<std::byte> into) {
  return move_all(into.size(), [&](std::uint64_t done, std::size_t some) {
    return pread(file, &into[done], some, static_cast<off_t>(at + done));
  });
}

std::uint64_t write_at(int file, std::uint64_t at, std::span<const std::byte> bytes) {
  return move_all(bytes.size(), [&](std::uint64_t done, std::size_t some) {
    return pwrite(file, &bytes[done], some, static_cast<off_t>(at + done));
  });
}

std::uint64_t read_stream(int stream, std::span<std::byte> into) {
  return move_all(into.size(), [&](std::uint64_t done, std::size_t some) {
    return when_ready(stream, POLLIN, [&] { return read(stream, &into[done], some); });
  });
}

std::uint64_t write_stream(int stream, std::span<const std::byte> bytes) {
  return move_all(bytes.size(), [&](std::uint64_t done, std::size_t some) {
    return when_ready(stream, POLLOUT, [&] { return write(stream, &bytes[done], some); });
  });
}

bool is_in_memory(int file) {
  struct statfs facts {};
  return fstatfs(file, &facts) == 0 && facts.f_type == TMPFS_MAGIC;
}

bool reserve(int file, std::uint64_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  // Checked before fallocate, which may use up the whole disk before it fails.
  struct statfs facts {};
  const bool is_known = fstatfs(file, &facts) == 0, is_limited = is_known && facts.f_blocks != 0;
  if (is_limited && bytes / static_cast<std::uint64_t>(facts.f_bsize) >= facts.f_bavail) return errno = ENOSPC, false;
  if (is_known && facts.f_type == TMPFS_MAGIC)
    return ftruncate(file, size) == 0;  // on tmpfs, fallocate would write all pages, on one thread
  int result = 0;
  do result = bytes == 0 ? 0 : fallocate(file, 0, 0, size);
  while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EOPNOTSUPP) result = ftruncate(file, size);
  return result == 0;
}

}  // namespace tilewise::io
