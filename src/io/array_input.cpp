// SPDX-License-Identifier: Apache-2.0
#include "io/array_input.hpp"

#include "base/printable.hpp"
#include "base/slices.hpp"
#include "io/file_bytes.hpp"
#include "io/file_identity.hpp"
#include "io/host_memory.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

/// Whole huge pages, so that no two threads write the same page first, and large enough to justify starting a thread.
constexpr std::uint64_t bytes_at_once_read = 4 << 20;

/// Some system files refuse larger reads: those in /proc/sys refuse 4 MiB.
constexpr std::uint64_t bytes_at_once_held = 1 << 20;

/// More threads do not read files in memory faster.
constexpr unsigned most_readers = 8;

bool is_standard(const std::string& path) { return path == standard_stream; }

/// O_NONBLOCK: a named pipe can then be refused without waiting for a writer.
int opened(const std::string& path) {
  return is_standard(path) ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/// Whether the file does not end at `size`. The size that the system reports can be wrong: 0 for files in /proc, a page
/// for shorter files in /sys, and an old size while another program writes the file. Also true for size 0.
bool is_wrong_size(int file, std::uint64_t size) {
  std::byte one;
  const bool ends_before = size == 0 || (read_at(file, size - 1, {&one, 1}) == 0 && errno == 0);
  return ends_before || read_at(file, size, {&one, 1}) == 1;
}

std::string counted(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

template <class Word>
void swap_words(std::span<std::byte> data) {
  for (std::size_t at = 0; at < data.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, &data[at], sizeof word);
    if constexpr (sizeof(Word) == 4)
      word = __builtin_bswap32(word);
    else
      word = __builtin_bswap64(word);
    std::memcpy(&data[at], &word, sizeof word);
  }
}

/// Whether it is numbers as text: a column of them, a .csv file, or the output of np.savetxt. Binary elements hardly
/// ever look like that.
bool is_text_of_numbers(std::string_view start) {
  return start.find_first_of("0123456789") != start.npos &&
         start.find_first_not_of("0123456789+-.eE,; \t\r\nnaifNAIF") == start.npos;
}

/// The Python call that converts such text, with the delimiter unless that is a blank.
std::string loadtxt_of(std::string_view text, dtype type) {
  const std::size_t apart = text.find_first_of(",;");
  return "np.save(\"new.npy\", np.loadtxt(\"old.txt\", \"" + std::string(numpy_code(type)) + "\"" +
         (apart == text.npos ? "" : std::string(", delimiter=\"") + text[apart] + "\"") + "))";
}

/// Converts Fortran order to C order. Goes through the result in order and counts up its indices.
template <class Word>
host_block to_c_order(const host_block& from, const std::vector<std::uint64_t>& shape) {
  host_block to(from.size());
  std::vector<std::uint64_t> index(shape.size()), stride(shape.size());
  std::exclusive_scan(shape.begin(), shape.end(), stride.begin(), std::uint64_t{sizeof(Word)}, std::multiplies<>());
  for (std::uint64_t at = 0, source = 0; at < to.size(); at += sizeof(Word)) {
    std::memcpy(to.data() + at, from.data() + source, sizeof(Word));
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += stride[d];
      if (++index[d] < shape[d]) break;
      source -= shape[d] * stride[d];
      index[d] = 0;
    }
  }
  return to;
}

}  // namespace

array_input::array_input(const std::string& path, const std::optional<raw_elements>& raw)
    : shown_(is_standard(path) ? "standard input" : base::printable(path)), file_(opened(path)) {
  try {
    struct stat facts {};
    if (file_ < 0 || fstat(file_, &facts) != 0) refuse(std::string("cannot be read: ") + std::strerror(errno));
    is_regular_ = S_ISREG(facts.st_mode) && lseek(file_, 0, SEEK_CUR) >= 0;  // some standard streams are pipes
    if (!is_regular_ && !is_standard(path))
      refuse("is not a regular file; copy its contents to one, or pipe them to -");
    if (isatty(file_) == 1) refuse("is a terminal; pipe an array into it, or name a file");
    if (is_regular_ && identity_of_stream(file_) == identity_of_stream(STDOUT_FILENO))
      throw error(errc::invalid_argument, shown_ + ": is where standard output goes; send that to another file");
    const std::uint64_t end = is_regular_ ? static_cast<std::uint64_t>(facts.st_size) : 0;
    if (is_regular_ && is_standard(path))
      begin_ = static_cast<std::uint64_t>(std::max<off_t>(0, lseek(file_, 0, SEEK_CUR)));
    size_ = end - std::min(end, begin_);
    if (is_regular_ && is_wrong_size(file_, end)) hold_all();
    raw ? find_raw_elements(*raw) : read_header();
    if (header_.data_bytes == 0) require_end();
  } catch (...) {
    if (file_ > STDIN_FILENO) close(file_);
    throw;
  }
}

array_input::array_input(npy_array elements)
    : shown_("an array in memory"), file_(-1), size_(elements.data.size()), held_(std::move(elements.data)) {
  header_.type = elements.type;
  header_.shape = std::move(elements.shape);
  header_.data_bytes = size_;
}

array_input::~array_input() {
  if (file_ > STDIN_FILENO) close(file_);
}

void array_input::refuse(const std::string& why) const { throw error(errc::io, shown_ + ": " + why); }

void array_input::read_header() {
  std::vector<std::byte> start(npy_header_start);
  start.resize(read_bytes(0, start));
  const std::uint64_t known = start.size();
  start.resize(std::max(known, npy_header_bytes(start)));
  start.resize(known + read_bytes(known, std::span(start).subspan(known)));
  try {
    header_ = parse_npy_header(start);
  } catch (const error& e) {
    refuse(e.what());
  }
  const std::uint64_t held = is_regular_ ? size_ - header_.data_offset : header_.data_bytes;
  if (held != header_.data_bytes)
    refuse("its header announces " + counted(header_.data_bytes) + " of elements, but it holds " +
           std::to_string(held) +
           (held < header_.data_bytes ? "; it is cut off"
                                      : "; it is not one array: np.save(\"new.npy\", np.load(\"old.npy\")) "
                                        "keeps the first"));
}

void array_input::find_raw_elements(const raw_elements& raw) {
  header_.type = raw.type;
  const std::uint64_t each = size_of(raw.type);
  if (!is_regular_ && !raw.shape) hold_all();
  const bool is_known = is_regular_ || !raw.shape;
  if (std::array<std::byte, npy_magic.size()> start; is_known && read_bytes(0, start) == start.size() &&
                                                     std::memcmp(start.data(), npy_magic.data(), start.size()) == 0)
    refuse(
        "has a header, which names the type: leave out --dtype; to convert the elements, "
        "np.save(\"new.npy\", np.load(\"old.npy\").astype(\"" +
        std::string(numpy_code(raw.type)) + "\"))");
  if (std::array<char, 4096> start; !raw.shape) {
    const std::string_view text(start.data(), read_bytes(0, std::as_writable_bytes(std::span(start))));
    if (is_text_of_numbers(text))
      refuse("looks like text, not binary elements; " + loadtxt_of(text, raw.type) +
             " converts it, then leave out --dtype; if it is elements, --shape says so");
  }
  const std::uint64_t held = is_known ? size_ : checked_bytes(raw.type, *raw.shape);
  if (held % each != 0)
    refuse("holds " + counted(held) + ", no whole number of elements of " + std::to_string(each) + " bytes");
  header_.shape = raw.shape.value_or(std::vector{held / each});
  header_.data_bytes = checked_bytes(raw.type, header_.shape);
  if (held != header_.data_bytes)
    refuse("holds " + counted(held) + ", but the shape needs " + std::to_string(header_.data_bytes));
}

void array_input::hold_all() {
  host_block all;
  for (std::uint64_t got = size_ = 0, asked = 0; got == asked; size_ += got) {
    if (size_ == all.size()) {
      const std::uint64_t room = std::max(bytes_at_once_read, 2 * size_);
      require_host_memory(room, shown_ + " needs at least " + counted(room));
      host_block larger(room);
      std::copy_n(all.data(), size_, larger.data());
      all = std::move(larger);
    }
    asked = std::min(bytes_at_once_held, all.size() - size_);
    got = read_bytes(size_, std::span(all).subspan(size_, asked));
  }
  held_ = std::move(all);
}

void array_input::require_end() {
  std::byte one;
  if (!is_regular_ && read_bytes(header_.data_offset + header_.data_bytes, {&one, 1}) != 0)
    refuse("goes on after the " + counted(header_.data_bytes) +
           " of elements that were announced; it is not one array");
}

std::uint64_t array_input::read_bytes(std::uint64_t at, std::span<std::byte> into) {
  if (held_.size() != 0) {
    const std::uint64_t there = std::min<std::uint64_t>(into.size(), size_ - std::min(size_, at));
    std::copy_n(held_.data() + at, there, into.data());
    return there;
  }
  const std::uint64_t done = is_regular_ ? read_at(file_, begin_ + at, into) : read_stream(file_, into);
  if (errno != 0) refuse("cannot be read at byte " + std::to_string(at + done) + ": " + std::strerror(errno));
  return done;
}

void array_input::read(std::uint64_t from, std::span<std::byte> into) {
  base::for_each_slice(
      into.size(), bytes_at_once_read, is_pipe() ? 1 : most_readers,
      [&](std::uint64_t begin, std::uint64_t end) { read_slice(from + begin, into.subspan(begin, end - begin)); });
}

void array_input::read_slice(std::uint64_t from, std::span<std::byte> into) {
  const std::uint64_t at = header_.data_offset + from, got = read_bytes(at, into);
  if (got != into.size())
    refuse((is_regular_ ? "became shorter while it was being read: it ends at byte " : "ends at byte ") +
           std::to_string(at + got) + " of " + std::to_string(header_.data_offset + header_.data_bytes));
  if (header_.big_endian) size_of(type()) == 4 ? swap_words<std::uint32_t>(into) : swap_words<std::uint64_t>(into);
  if (from + into.size() == header_.data_bytes) require_end();
}

npy_array array_input::read_all() {
  const std::uint64_t need = bytes() * (is_c_order() ? 1 : 2);
  const std::string sentence = shown_ + " needs " + counted(need);
  require_host_memory(need, sentence);
  npy_array array{.type = type(), .shape = shape(), .data = {}};
  try {
    array.data = host_block(bytes());
    read(0, array.data);
    if (!is_c_order())
      array.data = size_of(type()) == 4 ? to_c_order<std::uint32_t>(array.data, shape())
                                        : to_c_order<std::uint64_t>(array.data, shape());
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory, sentence + " of memory, more than this process may have; the host has " +
                                         std::to_string(available_host_memory()) + " left");
  }
  return array;
}

}  // namespace tilewise::io
