// SPDX-License-Identifier: Apache-2.0
#include "record/file.hpp"

#include "base/printable.hpp"
#include "io/file_identity.hpp"
#include "record/json.hpp"

#include <tilewise/error.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simdjson.h>
#include <zlib.h>

namespace tilewise::record {

namespace {

using nlohmann::json;
using simdjson::dom::element;

constexpr std::size_t most_told = 5;          // warnings for one file
constexpr std::size_t most_bytes = 16 << 20;  // of a line; a record with all its samples and a field has some 100,000

/// The bytes of a file, inflated if gzip compressed them.
class inflated_file : public std::streambuf {
 public:
  explicit inflated_file(const std::filesystem::path& file) : file_(gzopen(file.c_str(), "rbe")) {}
  inflated_file(const inflated_file&) = delete;
  ~inflated_file() override { gzclose(file_); }

  bool is_open() const { return file_ != nullptr; }
  /// At the end of the file: whether nothing stands behind what gzip compressed, of which the last four bytes are the
  /// size.
  bool is_whole(const std::filesystem::path& file) const {
    std::uint32_t size = 0;
    std::ifstream raw(file, std::ios::binary);
    raw.seekg(-static_cast<std::streamoff>(sizeof size), std::ios::end);
    raw.read(reinterpret_cast<char*>(&size), sizeof size);
    return gzdirect(file_) != 0 || size == static_cast<std::uint32_t>(bytes_);
  }

 private:
  /// Throws at bytes that cannot be read or inflated, which sets the stream's badbit.
  int_type underflow() override {
    const int got = gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int problem = Z_OK;
    gzerror(file_, &problem);
    if (got < 0 || (got == 0 && problem != Z_OK)) throw std::runtime_error("unreadable");
    if (got == 0) return traits_type::eof();
    bytes_ += static_cast<std::uint64_t>(got);
    setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
    return traits_type::to_int_type(buffer_[0]);
  }

  gzFile file_;
  std::uint64_t bytes_ = 0;  // inflated so far
  std::array<char, 1 << 16> buffer_;
};

/// Locks the file while this process examines it and appends; other processes wait.
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

/// Opens without following links, so that nobody can replace the file or a folder in its path meanwhile.
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

/// Whether the file may end within a line that a killed run or a full disk left unfinished; the next record must not be
/// appended to that line. In a file that cannot be read, this is unknown.
bool may_end_within_line(int file) {
  char last = 0;
  const off_t size = lseek(file, 0, SEEK_END);
  return size > 0 && (pread(file, &last, 1, size - 1) != 1 || last != '\n');
}

/// Lines behind what gzip compressed are never read.
[[noreturn]] void refuse_compressed(const std::filesystem::path& path) {
  throw error(errc::io, base::printable(path.string()) +
                            ": records are not appended to compressed files; name another, compress it at the end");
}

std::filesystem::path not_called_compressed(std::filesystem::path path) {
  if (path.extension() == ".gz") refuse_compressed(path);
  return path;
}
bool begins_as_gzip(int file) {
  char first = 0;
  return pread(file, &first, 1, 0) == 1 && first == 0x1f;
}

}  // namespace

record_file::record_file(std::filesystem::path path)
    : path_(not_called_compressed(std::move(path))), file_(open_to_append(io::destination(path_.string()))) {
  if (file_ < 0 && errno != ELOOP) fail("cannot be opened for writing");
  struct stat facts {};
  const bool is_file = file_ >= 0 && fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode);
  const bool is_compressed = is_file && begins_as_gzip(file_);
  if (is_file && !is_compressed) return;
  if (file_ >= 0) close(file_);
  if (is_compressed) refuse_compressed(path_);
  throw error(errc::io, base::printable(path_.string()) + ": is not a regular file; name a file to append records to");
}

record_file::~record_file() { close(file_); }

void record_file::write(const result& r) {
  const file_lock alone(file_);
  append((may_end_within_line(file_) ? "\n" : "") + to_json(r).dump(-1, ' ', false, json::error_handler_t::replace) +
         '\n');
}

/// Writes the whole line or nothing: if the disk is full, what was written is removed.
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

namespace {

constexpr int depth_limit = 64;  // a record nests 5 deep; a deeper one is malicious
constexpr std::size_t usual_bytes = 1 << 16;

// Each function returns whether the JSON had the value's type.
bool read(element from, bool& to) { return from.get(to) == simdjson::SUCCESS; }
bool read(element from, count& to) { return from.get(to) == simdjson::SUCCESS; }

bool read(element from, text& to) {
  std::string_view found;
  return from.get(found) == simdjson::SUCCESS && (to = found, true);
}

bool read(element from, double& to) {
  if (from.is_null()) to = std::numeric_limits<double>::quiet_NaN();
  return from.is_null() || from.get(to) == simdjson::SUCCESS;
}

template <word W>
bool read(element from, W& to) {
  std::string_view name;
  const auto found = from.get(name) == simdjson::SUCCESS ? word_of<W>(name) : std::nullopt;
  if (found) to = *found;
  return found.has_value();
}

template <part T>
bool read(element from, T& to);

template <class T>
bool read(element from, std::optional<T>& to) {
  if (from.is_null()) return true;
  if (read(from, to.emplace())) return true;
  to.reset();
  return false;
}

template <class T>
bool read(element from, std::vector<T>& to) {
  simdjson::dom::array entries;
  if (from.get(entries) != simdjson::SUCCESS) return false;
  for (const element entry : entries)
    if (T value{}; read(entry, value)) to.push_back(std::move(value));
  return true;
}

bool read(element from, std::map<text, text>& to) {
  simdjson::dom::object entries;
  if (from.get(entries) != simdjson::SUCCESS) return false;
  for (const auto& [key, entry] : entries)
    if (text value; read(entry, value)) to.emplace(key, std::move(value));
  return true;
}

template <part T>
bool read(element from, T& to) {
  simdjson::dom::object object;
  if (from.get(object) != simdjson::SUCCESS) return false;
  each_field<T>([&]<class V>(const field<T, V>& f) {
    element found;
    if (object.at_key(f.key).get(found) != simdjson::SUCCESS) return;
    if constexpr (is_added<V>) {
      if (V& value = to.*f.member; !read(found, value.emplace())) value.reset();
    } else {
      read(found, to.*f.member);
    }
  });
  return true;
}

std::string_view text_of(element object, std::string_view key) {
  std::string_view found;
  return object.at_key(key).get(found) == simdjson::SUCCESS ? found : std::string_view();
}

/// The name of a required part that is missing; empty if none is.
std::string lack(element object) {
  for (const std::string_view part :
       {key_of(&result::tool), key_of(&result::host), key_of(&result::device), key_of(&result::what)})
    if (!object.at_key(part).is_object()) return "has no object '" + std::string(part) + "'";
  const text what(key_of(&result::what)), device(key_of(&result::device));
  for (const auto member : {&measured_case::group, &measured_case::algorithm, &measured_case::variant,
                            &measured_case::backend, &measured_case::dtype})
    if (text_of(object.at_key(what).value_unsafe(), key_of(member)).empty())
      return "has no text '" + what + "." + std::string(key_of(member)) + "'";
  if (const text name(key_of(&device::name)); text_of(object.at_key(device).value_unsafe(), name).empty())
    return "has no text '" + device + "." + name + "'";
  const text n(key_of(&measured_case::n));
  return object.at_key(what).at_key(n).is_uint64() ? "" : "has no count '" + what + "." + n + "'";
}

/// What is wrong with a line; empty if nothing is.
std::string damage(element object) {
  if (!object.is_object()) return "is not a JSON object";
  if (const std::string_view got = text_of(object, key_of(&result::schema)); got != schema_name)
    return "has the schema '" + text(got) + "', and this tool reads '" + text(schema_name) + "'";
  const std::string_view state = text_of(object, key_of(&result::state));
  if (!word_of<status>(state)) return "has the unknown status '" + text(state) + "'";
  return lack(object);
}

/// For a line that the fast parser refused: that parser may report another fault before it reaches this depth.
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

element parsed(simdjson::dom::parser& by, const simdjson::padded_string& line) {
  element tree;
  if (const auto failure = by.parse(line).get(tree)) {
    if (failure == simdjson::MEMALLOC) throw std::bad_alloc();
    throw simdjson::simdjson_error(failure);
  }
  return tree;
}

/// For a line that the fast parser refused: says what is wrong, or rewrites numbers beyond 64 bits, which JSON allows.
simdjson::padded_string respelt(std::string_view line) { return json::parse(line).dump(); }

/// Parses the line of a record. The parser, its memory and its tree are reused for every line, since files may have a
/// million lines.
class record_reader {
 public:
  record_reader() {
    if (parser_.allocate(usual_bytes, depth_limit) != simdjson::SUCCESS) throw std::bad_alloc();
  }

  /// Returns what is wrong with a line, or an empty string after setting `r`. The memory after the line must be
  /// readable for as many bytes as simdjson pads; their content does not matter. Throws std::bad_alloc.
  std::string read(std::string_view line, result& r) {
    element tree;
    const auto failure = parser_.parse(line.data(), line.size(), false).get(tree);
    if (failure == simdjson::MEMALLOC) throw std::bad_alloc();
    try {
      if (failure == simdjson::DEPTH_ERROR || (failure && nests_too_deep(line)))
        return "nests deeper than " + std::to_string(depth_limit) + " levels";
      if (failure) tree = parsed(parser_, respelt(line));
      const std::string problem = damage(tree);
      if (problem.empty()) record::read(tree, r);
      return problem;
    } catch (const json::exception& problem) {
      return "is damaged: " + std::string(problem.what());
    }
  }

 private:
  simdjson::dom::parser parser_;
};

}  // namespace

result from_json(const json& object) {
  simdjson::dom::parser parser;
  result r;
  read(parsed(parser, object.dump(-1, ' ', false, json::error_handler_t::replace)), r);
  return r;
}

void read_records(const std::filesystem::path& file, const std::function<void(const result&)>& take,
                  std::vector<std::string>* warnings) {
  const std::string shown = base::printable(file.string());
  if (std::error_code unknown;
      std::filesystem::exists(file, unknown) && !std::filesystem::is_regular_file(file, unknown))
    throw error(errc::io, shown + " is not a regular file; copy its contents to one");
  inflated_file bytes(file);
  std::istream stream(&bytes);
  if (!bytes.is_open()) throw error(errc::io, shown + " cannot be read; give a file that `tilewise bench -o` wrote");
  const auto buffer = std::make_unique_for_overwrite<char[]>(most_bytes + 1 + simdjson::SIMDJSON_PADDING);
  record_reader reader;
  std::size_t records = 0, broken = 0, number = 1;
  for (; stream.getline(buffer.get(), most_bytes + 1); ++number) {
    const std::string_view line(buffer.get(), static_cast<std::size_t>(stream.gcount()) - (stream.eof() ? 0 : 1));
    if (line.empty()) continue;  // `write` adds an empty line if it could not tell whether the last one was finished
    result r;
    const std::string problem = reader.read(line, r);
    if (problem.empty()) {
      take(r);
      ++records;
      continue;
    }
    const std::string sentence = shown + ": line " + std::to_string(number) + " " + base::printable(problem);
    if (json::accept(line)) throw error(errc::io, sentence);  // valid JSON, so not an unfinished write
    if (++broken <= most_told && warnings) warnings->push_back(sentence + "; it was left out");
  }
  if (!stream.eof() && !stream.bad())
    throw error(errc::io, shown + ": line " + std::to_string(number) + " is longer than " +
                              std::to_string(most_bytes >> 20) + " MiB, and no record is");
  if (stream.bad())
    throw error(errc::io, shown + ": reading failed after " + std::to_string(records) +
                              " records; the file is damaged or cut off, or the disk is");
  if (!bytes.is_whole(file))
    throw error(errc::io, shown + " is more than one compressed file; decompress them, and compress all at once");
  if (records == 0) throw error(errc::io, shown + " holds no record; give a file that `tilewise bench -o` wrote");
  if (broken > most_told && warnings)
    warnings->push_back(shown + ": " + std::to_string(broken - most_told) +
                        " more lines are damaged; they were left out");
}

}  // namespace tilewise::record
