#include "io/npy.hpp"

#include "base/printable.hpp"
#include "io/host_memory.hpp"
#include "io/npy_header.hpp"
#include "io/replacement_file.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <new>
#include <numeric>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw error(errc::io, base::printable(path) + ": " + why);
}

/// A regular file, open for reading. Opened without waiting, so that a pipe is refused instead of waited for.
class input_file {
 public:
  explicit input_file(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat facts {};
    if (file_ < 0 || fstat(file_, &facts) != 0) {
      const int reason = errno;
      if (file_ >= 0) close(file_);
      refuse(path, std::string("cannot be read: ") + std::strerror(reason));
    }
    size_ = static_cast<std::uint64_t>(facts.st_size);
    if (S_ISREG(facts.st_mode)) return;
    close(file_);
    refuse(path, "is not a regular file; copy its contents to one");
  }
  input_file(const input_file&) = delete;
  ~input_file() { close(file_); }

  std::uint64_t size() const { return size_; }

  void read(std::uint64_t from, std::span<std::byte> into) const {
    while (!into.empty()) {
      const ssize_t got =
          pread(file_, into.data(), std::min<std::size_t>(into.size(), 1 << 30), static_cast<off_t>(from));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(path_, std::string("cannot be read: ") + std::strerror(errno));
      if (got == 0) refuse(path_, "became shorter while it was being read");
      into = into.subspan(static_cast<std::size_t>(got));
      from += static_cast<std::uint64_t>(got);
    }
  }

 private:
  const std::string& path_;
  int file_;
  std::uint64_t size_ = 0;
};

npy_header read_header(const input_file& file, const std::string& path) {
  std::vector<std::byte> start(std::min(file.size(), largest_npy_header + 12));
  file.read(0, start);
  npy_header header;
  try {
    header = parse_npy_header(start);
  } catch (const error& e) {
    refuse(path, e.what());
  }
  const std::uint64_t held = file.size() - header.data_offset;
  if (held != header.data_bytes)
    refuse(path, "its header announces " + std::to_string(header.data_bytes) + " bytes of elements, but it holds " +
                     std::to_string(held) + (held < header.data_bytes ? "; it is cut off" : "; it is not one array"));
  return header;
}

template <class Word>
Word swapped(Word value) {
  if constexpr (sizeof(Word) == 4)
    return __builtin_bswap32(value);
  else
    return __builtin_bswap64(value);
}

template <class Word>
void swap_bytes(std::vector<std::byte>& data) {
  for (std::size_t at = 0; at < data.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, &data[at], sizeof word);
    word = swapped(word);
    std::memcpy(&data[at], &word, sizeof word);
  }
}

/// From first-index-fastest to last-index-fastest. Walks the result in order, with the odometer of its indices.
template <class Word>
std::vector<std::byte> to_c_order(const std::vector<std::byte>& from, const std::vector<std::uint64_t>& shape) {
  std::vector<std::byte> to(from.size());
  std::vector<std::uint64_t> index(shape.size()), stride(shape.size());
  std::exclusive_scan(shape.begin(), shape.end(), stride.begin(), std::uint64_t{sizeof(Word)}, std::multiplies<>());
  for (std::uint64_t at = 0, source = 0; at < to.size(); at += sizeof(Word)) {
    std::memcpy(&to[at], &from[source], sizeof(Word));
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += stride[d];
      if (++index[d] < shape[d]) break;
      source -= shape[d] * stride[d];
      index[d] = 0;
    }
  }
  return to;
}

template <class Word>
void convert(npy_array& array, const npy_header& header) {
  if (header.big_endian) swap_bytes<Word>(array.data);
  if (header.fortran_order && header.shape.size() > 1) array.data = to_c_order<Word>(array.data, header.shape);
}

}  // namespace

npy_array read_npy(const std::string& path) {
  const input_file file(path);
  const npy_header header = read_header(file, path);
  const bool twice = header.fortran_order && header.shape.size() > 1;
  const std::uint64_t need = header.data_bytes * (twice ? 2 : 1);
  const std::string sentence = base::printable(path) + " needs " + std::to_string(need) + " bytes";
  require_host_memory(need, sentence);
  npy_array array{.type = header.type, .shape = header.shape, .data = {}};
  try {
    array.data.resize(header.data_bytes);
    file.read(header.data_offset, array.data);
    size_of(header.type) == 4 ? convert<std::uint32_t>(array, header) : convert<std::uint64_t>(array, header);
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory, sentence + " of memory, more than this process may have; the host has " +
                                         std::to_string(available_host_memory()) + " left");
  }
  return array;
}

void write_npy(const std::string& path, dtype type, std::span<const std::uint64_t> shape,
               std::span<const std::byte> data) {
  write_npys(std::array{npy_output{path, type, shape, data}});
}

void write_npys(std::span<const npy_output> outputs) {
  std::deque<replacement_file> files;
  for (const npy_output& out : outputs) {
    const std::string header = format_npy_header(out.type, out.shape);
    replacement_file& file = files.emplace_back(out.path);
    file.write(std::as_bytes(std::span(header)));
    file.write(out.data);
  }
  for (replacement_file& file : files) file.commit();
}

}  // namespace tilewise::io
