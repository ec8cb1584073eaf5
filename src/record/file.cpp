// SPDX-License-Identifier: Apache-2.0
#include "record/file.hpp"

#include "base/printable.hpp"
#include "io/file_identity.hpp"
#include "record/json.hpp"
#include "record/reader.hpp"

#include <tilewise/error.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::record {

namespace {

using nlohmann::json;

constexpr std::size_t most_told = 5;          // broken lines of one file
constexpr std::size_t most_bytes = 16 << 20;  // of a line; a record with all its samples and a field has some 100,000

/// Held while the file is looked at and appended to; other processes wait.
class file_lock {
 public:
  explicit file_lock(int file) : file_(file) {
    while (flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;
  }
  file_lock(const file_lock&) = delete;
  ~file_lock() { flock(file_, LOCK_UN); }

 private:
  int file_;
};

/// Nothing that somebody puts in the place of the file or of a folder meanwhile is followed.
int open_to_append(const std::string& path) {
  const int folder = io::open_folder_of(path);
  if (folder < 0) return -1;
  const char* const name = io::name_within_folder(path);
  constexpr int how = O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  int file = openat(folder, name, O_RDWR | how, 0666);
  if (file < 0 && errno == EACCES) file = openat(folder, name, O_WRONLY | how, 0666);
  const int failure = errno;
  close(folder);
  errno = failure;
  return file;
}

/// A line that a killed run or a full disk left unfinished must not swallow the next record. Whether there is one
/// cannot be seen in a file that may only be written.
bool may_end_within_line(int file) {
  char last = 0;
  const off_t size = lseek(file, 0, SEEK_END);
  return size > 0 && (pread(file, &last, 1, size - 1) != 1 || last != '\n');
}

}  // namespace

record_file::record_file(std::filesystem::path path)
    : path_(std::move(path)), file_(open_to_append(io::destination(path_.string()))) {
  if (file_ < 0 && errno != ELOOP) fail("cannot be opened for writing");
  struct stat facts {};
  if (file_ >= 0 && fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode)) return;
  if (file_ >= 0) close(file_);
  throw error(errc::io, base::printable(path_.string()) + ": is not a regular file; name a file to append records to");
}

record_file::~record_file() { close(file_); }

void record_file::write(const result& r) {
  const file_lock alone(file_);
  append((may_end_within_line(file_) ? "\n" : "") + to_json(r).dump(-1, ' ', false, json::error_handler_t::replace) +
         '\n');
}

/// As a whole or not at all: what a full disk cut short is taken back.
void record_file::append(std::string_view line) {
  const off_t before = lseek(file_, 0, SEEK_END);
  while (!line.empty()) {
    const ssize_t written = ::write(file_, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int why = errno;
      if (ftruncate(file_, before) == 0) errno = why;
      fail("cannot be written");
    }
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

void record_file::fail(const char* what) const {
  throw error(errc::io, base::printable(path_.string()) + ": " + what + ": " + std::strerror(errno) +
                            "; give another file with -o");
}

void read_records(const std::filesystem::path& file, const std::function<void(const result&)>& take,
                  std::vector<std::string>* warnings) {
  const std::string shown = base::printable(file.string());
  if (std::error_code unknown;
      std::filesystem::exists(file, unknown) && !std::filesystem::is_regular_file(file, unknown))
    throw error(errc::io, shown + " is not a regular file; copy its contents to one");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw error(errc::io, shown + " cannot be read; give a file that `tilewise bench -o` wrote");
  const auto buffer = std::make_unique_for_overwrite<char[]>(most_bytes + 1 + record_reader::padding);
  record_reader reader;
  std::size_t records = 0, broken = 0, number = 1;
  for (; stream.getline(buffer.get(), most_bytes + 1); ++number) {
    const std::string_view line(buffer.get(), static_cast<std::size_t>(stream.gcount()) - (stream.eof() ? 0 : 1));
    if (line.empty()) continue;  // what `write` leaves where a line may have been unfinished and was not
    result r;
    const std::string problem = reader.read(line, r);
    if (problem.empty()) {
      take(r);
      ++records;
      continue;
    }
    const std::string sentence = shown + ": line " + std::to_string(number) + " " + base::printable(problem);
    if (json::accept(line)) throw error(errc::io, sentence);  // not what an unfinished write leaves
    if (++broken <= most_told && warnings) warnings->push_back(sentence + "; it was left out");
  }
  if (!stream.eof() && !stream.bad())
    throw error(errc::io, shown + ": line " + std::to_string(number) + " is longer than " +
                              std::to_string(most_bytes >> 20) + " MiB, and no record is");
  if (stream.bad())
    throw error(errc::io, shown + ": reading failed after " + std::to_string(records) + " records; check the disk");
  if (records == 0) throw error(errc::io, shown + " holds no record; give a file that `tilewise bench -o` wrote");
  if (broken > most_told && warnings)
    warnings->push_back(shown + ": " + std::to_string(broken - most_told) +
                        " more lines are damaged; they were left out");
}

}  // namespace tilewise::record
