// SPDX-License-Identifier: Apache-2.0
#include "io/array_output.hpp"

#include "base/slices.hpp"
#include "io/array_input.hpp"
#include "io/file_bytes.hpp"
#include "io/npy_header.hpp"

#include <cerrno>
#include <cstring>
#include <numeric>

#include <unistd.h>

namespace tilewise::io {

namespace {

constexpr std::uint64_t bytes_at_once_written = 1 << 20;
constexpr unsigned most_writers = 8;

}  // namespace

array_output::array_output(const std::string& path, dtype type, std::span<const std::uint64_t> shape)
    : header_(format_npy_header(type, shape)) {
  if (path == standard_stream) {
    if (isatty(STDOUT_FILENO) == 1)
      throw error(errc::io, "standard output: is a terminal; send the array to a pipe, or name a file");
    return;
  }
  file_.emplace(path);
  file_->resize(std::accumulate(shape.begin(), shape.end(), std::uint64_t{size_of(type)}, std::multiplies<>()) +
                header_.size());
  file_->write_at(0, std::as_bytes(std::span(header_)));
}

array_output::array_output(const std::string& path, dtype type, std::span<const std::uint64_t> shape,
                           const std::string& temporary)
    : header_(format_npy_header(type, shape)) {
  file_.emplace(path, temporary);
}

void array_output::write(std::uint64_t from, std::span<const std::byte> elements) {
  if (!file_) {
    if (from == 0) print(std::as_bytes(std::span(header_)));
    return print(elements);
  }
  base::for_each_slice(elements.size(), bytes_at_once_written, most_writers,
                       [&](std::uint64_t begin, std::uint64_t end) {
                         file_->write_at(header_.size() + from + begin, elements.subspan(begin, end - begin));
                       });
}

void array_output::commit() {
  if (file_) file_->commit();
}

void array_output::print(std::span<const std::byte> bytes) {
  printed_ += write_stream(STDOUT_FILENO, bytes);
  const int failure = errno;
  if (failure == 0) return;
  const std::string why =
      "standard output: cannot be written at byte " + std::to_string(printed_) + ": " + std::strerror(failure);
  if (failure == EPIPE) throw reader_gone(errc::io, why);
  throw error(errc::io, why);
}

}  // namespace tilewise::io
