// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. Each is a libFuzzer program, <what is read>_fuzz.cpp: any bytes are read, or refused
// with an error that says why, and what was read holds what its reader promises. fuzz_campaign.py runs them all.
//
// cmake --preset fuzz && cmake --build --preset fuzz && build/fuzz/npy-fuzz -max_total_time=60
#pragma once

#include <tilewise/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace tilewise::fuzz {

/// Ends the process if `holds` is false; libFuzzer then keeps the input.
inline void require(bool holds, const char* what, std::string_view text = "") {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s: %.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

/// A file in memory; it has a path while this object exists.
class memory_file {
 public:
  explicit memory_file(std::string_view text) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "the file is written");
  }
  memory_file(const memory_file&) = delete;
  ~memory_file() { close(file_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// Whether `read` accepted its input. If it throws, the error must have one of these codes and a readable sentence.
template <class F>
bool is_read(std::initializer_list<errc> codes, F&& read) {
  try {
    read();
    return true;
  } catch (const error& e) {
    require(std::find(codes.begin(), codes.end(), e.code()) != codes.end(), "the code is documented", e.what());
    require(std::string_view(e.what()).size() > 10, "an error says why", e.what());
    return false;
  }
}

/// Of a file. The sentence names it, is of a length that is read, and steers no terminal.
template <class F>
bool is_file_read(std::string_view name, std::initializer_list<errc> codes, F&& read) {
  return is_read(codes, [&] {
    try {
      read();
    } catch (const error& e) {
      const std::string_view said = e.what();
      require(said.find(name) != said.npos, "an error names the file", said);
      require(said.size() < 2000, "an error is a sentence", said);
      require(std::none_of(said.begin(), said.end(), [](unsigned char c) { return c < 32 || c == 127; }),
              "an error is printable", said);
      throw;
    }
  });
}

}  // namespace tilewise::fuzz

/// The body of a target, with `std::string_view text` as its input.
#define TILEWISE_FUZZ_TARGET                                                          \
  static void read_any(std::string_view text);                                        \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    read_any({reinterpret_cast<const char*>(data), size});                            \
    return 0;                                                                         \
  }                                                                                   \
  static void read_any([[maybe_unused]] std::string_view text)
