// SPDX-License-Identifier: Apache-2.0
#include "io/scratch_file.hpp"

#include "base/printable.hpp"
#include "base/slices.hpp"
#include "io/file_bytes.hpp"

#include <tilewise/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

constexpr std::uint64_t bytes_at_once = 4 << 20;
constexpr unsigned most_threads = 8;

int open_without_name(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || errno != EOPNOTSUPP) return file;
  std::string path = folder + "/.tilewise-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

}  // namespace

scratch_file::scratch_file(const std::string& folder, std::uint64_t bytes)
    : shown_(base::printable(folder)), file_(open_without_name(folder)) {
  if (file_ < 0) fail("takes no scratch file");
  if (reserve(file_, bytes)) return;
  const int reason = errno;
  close(file_);
  errno = reason;
  fail("has no room for " + std::to_string(bytes) + " bytes of runs");
}

scratch_file::~scratch_file() { close(file_); }

void scratch_file::write(std::uint64_t at, std::span<const std::byte> bytes) {
  base::for_each_slice(bytes.size(), bytes_at_once, most_threads, [&](std::uint64_t begin, std::uint64_t end) {
    if (const std::uint64_t done = write_at(file_, at + begin, bytes.subspan(begin, end - begin)); begin + done != end)
      fail("a scratch file cannot be written at byte " + std::to_string(at + begin + done));
  });
}

void scratch_file::read(std::uint64_t at, std::span<std::byte> into) const {
  base::for_each_slice(into.size(), bytes_at_once, most_threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t done = read_at(file_, at + begin, into.subspan(begin, end - begin));
    if (begin + done == end) return;
    if (errno == 0) errno = EIO;  // the file has become shorter
    fail("a scratch file cannot be read at byte " + std::to_string(at + begin + done));
  });
}

void scratch_file::fail(const std::string& what) const {
  throw error(errc::io, shown_ + ": " + what + ": " + std::strerror(errno));
}

}  // namespace tilewise::io
