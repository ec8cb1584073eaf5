// SPDX-License-Identifier: Apache-2.0
#include "record/record_file.hpp"

#include "base/printable.hpp"
#include "record/record_json.hpp"

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

constexpr int depth_limit = 64;  // a record nests 5 deep; deeper ones are hostile

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

/// A line that a killed run or a full disk left unfinished must not swallow the next record.
bool ends_within_line(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return false;
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

text text_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<text>() : text();
}

bool has_part(const json& object, std::string_view key) {
  return object.contains(key) && object[std::string(key)].is_object();
}

/// Which indispensable part is missing; empty if none is.
std::string lack(const json& object) {
  for (const std::string_view part :
       {key_of(&result::tool), key_of(&result::host), key_of(&result::device), key_of(&result::what)})
    if (!has_part(object, part)) return "has no object '" + std::string(part) + "'";
  const text what(key_of(&result::what)), device(key_of(&result::device));
  for (const auto member : {&measured_case::group, &measured_case::algorithm, &measured_case::variant,
                            &measured_case::backend, &measured_case::dtype})
    if (text_of(object[what], key_of(member)).empty())
      return "has no text '" + what + "." + std::string(key_of(member)) + "'";
  if (const text name(key_of(&device::name)); text_of(object[device], name).empty())
    return "has no text '" + device + "." + name + "'";
  const text n(key_of(&measured_case::n));
  return object[what].contains(n) && object[what][n].is_number_unsigned() ? ""
                                                                          : "has no count '" + what + "." + n + "'";
}

/// What is wrong with a line, or empty.
std::string damage(const json& object) {
  if (!object.is_object()) return "is not a JSON object";
  if (const text got = text_of(object, key_of(&result::schema)); got != schema_name)
    return "has the schema '" + got + "', and this tool reads '" + std::string(schema_name) + "'";
  const text state = text_of(object, key_of(&result::state));
  if (!word_of<status>(state)) return "has the unknown status '" + state + "'";
  return lack(object);
}

/// Looked at before parsing: a parser that asks back at each value takes half as long again.
bool nests_too_deep(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{') && ++depth > depth_limit)
      return true;
    else if (!in_string && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

/// What is wrong with a line, or empty; `r` is set if nothing is.
std::string read_line(std::string_view line, result& r) {
  if (nests_too_deep(line)) return "nests deeper than " + std::to_string(depth_limit) + " levels";
  try {
    const json object = json::parse(line);
    const std::string problem = damage(object);
    if (problem.empty()) r = from_json(object);
    return problem;
  } catch (const json::exception& problem) {
    return "is damaged: " + std::string(problem.what());
  }
}

}  // namespace

record_file::record_file(std::filesystem::path path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (file_ < 0) fail("cannot be opened for writing");
  struct stat facts {};
  if (fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode)) return;
  close(file_);
  throw error(errc::io, base::printable(path_.string()) + ": is not a regular file; name a file to append records to");
}

record_file::~record_file() { close(file_); }

void record_file::write(const result& r) {
  const file_lock alone(file_);
  append((ends_within_line(path_) ? "\n" : "") + to_json(r).dump(-1, ' ', false, json::error_handler_t::replace) +
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
  if (std::error_code unknown; !std::filesystem::is_regular_file(file, unknown))
    throw error(errc::io, shown + " cannot be read; give a file that `tilewise bench -o` wrote");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw error(errc::io, shown + " cannot be read; give a file that `tilewise bench -o` wrote");
  const auto buffer = std::make_unique_for_overwrite<char[]>(most_bytes + 1);
  std::size_t records = 0, broken = 0, number = 1;
  for (; stream.getline(buffer.get(), most_bytes + 1); ++number) {
    const std::string_view line(buffer.get(), static_cast<std::size_t>(stream.gcount()) - (stream.eof() ? 0 : 1));
    result r;
    const std::string problem = read_line(line, r);
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
