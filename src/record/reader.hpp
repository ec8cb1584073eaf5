// SPDX-License-Identifier: Apache-2.0
// Reads a record's line. Files of a million lines spend their time here, so the parser, its memory and its tree serve
// one line after the other.
#pragma once

#include "record/record.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace tilewise::record {

class record_reader {
 public:
  record_reader();
  ~record_reader();

  static constexpr std::size_t padding = 64;  // bytes after a line that may be looked at, whatever they hold

  /// What is wrong with a line, or empty; `r` is set if nothing is. Throws std::bad_alloc.
  std::string read(std::string_view padded_line, result& r);

 private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

}  // namespace tilewise::record
