// SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.hpp"

#include "base/printable.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace tilewise::io {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::array<std::string_view, 6> codes{"f4", "f8", "i4", "i8", "u4", "u8"};
constexpr std::string_view accepted = "Tilewise reads f4, f8, i4, i8, u4 and u8";

[[noreturn]] void refuse(const std::string& why) { throw error(errc::io, why); }

/// The dictionary's text and how far we are in it.
class header_text {
 public:
  explicit header_text(std::string_view text) : rest_(text) {}

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  char next() {
    skip_spaces();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char wanted) {
    if (next() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted))
      refuse(std::string("the header lacks a '") + wanted + "' before '" + base::printable(rest_) + "'");
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// A quoted text without escapes.
  std::string_view quoted() {
    const char quote = next();
    if (quote != '\'' && quote != '"') refuse("the header lacks a quoted text before '" + base::printable(rest_) + "'");
    const auto end = rest_.find(quote, 1);
    if (end == rest_.npos) refuse("the header has a quote that does not end");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::uint64_t number() {
    skip_spaces();
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto digits = static_cast<std::size_t>(end - rest_.data());
    if (failure == std::errc::result_out_of_range) refuse("a dimension is larger than 2^64");
    if (digits == 0 || (digits > 1 && rest_.front() == '0'))
      refuse("the shape has '" + base::printable(rest_) + "' where a dimension should be");
    rest_.remove_prefix(digits);
    return value;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// What to do with elements of a type that is not read. NumPy's code is a letter for the kind and a size.
std::string advice_for(std::string_view code) {
  const auto convert = [](const char* type) { return std::string("convert it first, with astype('") + type + "')"; };
  if (code == "f16") return convert("f8");
  switch (code.empty() ? '\0' : code.front()) {
    case 'f': return convert("f4");
    case 'i': return convert("i4");
    case 'u':
    case 'b': return convert("u4");
    case 'c': return "save its real and imag parts separately";
    case 'M':
    case 'm': return "save its counts, with view('i8')";
    case 'S':
    case 'U': return "save numbers; astype('f8') converts text";
    default: return "save an array of numbers";
  }
}

void parse_descr(header_text& text, npy_header& header) {
  if (text.next() == '[' || text.next() == '(')
    refuse("its elements are records; " + std::string(accepted) + ", so save one field alone");
  const std::string_view descr = text.quoted();
  const std::string_view code = descr.substr(std::min<std::size_t>(descr.size(), 1));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (code != codes[i]) continue;
    if (descr[0] != '<' && descr[0] != '>')
      refuse("its element type '" + base::printable(descr) + "' does not say its byte order with < or >");
    header.type = all_dtypes[i];
    header.big_endian = descr[0] == '>';
    return;
  }
  refuse("its elements have type '" + base::printable(descr) + "'; " + std::string(accepted) + ", so " +
         advice_for(code));
}

void parse_shape(header_text& text, npy_header& header) {
  text.expect('(');
  bool comma = true;
  while (!text.take(')')) {
    if (!comma) refuse("the shape lacks a comma before '" + base::printable(text.rest()) + "'");
    if (header.shape.size() == most_npy_dimensions)
      refuse("it has more than " + std::to_string(most_npy_dimensions) + " dimensions; reshape it");
    header.shape.push_back(text.number());
    comma = text.take(',');
  }
  if (header.shape.size() == 1 && !comma) refuse("the shape is not a tuple: one dimension is written (3,)");
}

void parse_order(header_text& text, npy_header& header) {
  header.fortran_order = text.take_word("True");
  if (!header.fortran_order && !text.take_word("False")) refuse("fortran_order is neither True nor False");
}

void parse_dictionary(header_text& text, npy_header& header) {
  constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};
  constexpr std::array parsers{parse_descr, parse_order, parse_shape};
  std::array<bool, 3> seen{};
  text.expect('{');
  bool comma = true;
  while (!text.take('}')) {
    if (!comma) refuse("the header lacks a comma before '" + base::printable(text.rest()) + "'");
    const std::string_view key = text.quoted();
    const auto which = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (which == keys.size()) refuse("the header has an unknown key '" + base::printable(key) + "'");
    if (seen[which]) refuse("the header has the key '" + std::string(key) + "' twice");
    seen[which] = true;
    text.expect(':');
    parsers[which](text, header);
    comma = text.take(',');
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!seen[i]) refuse("the header lacks the key '" + std::string(keys[i]) + "'");
  text.skip_spaces();
  if (text.rest() != "\n") refuse("the header does not end with a line feed after its dictionary");
}

/// Where the dictionary begins and how long it is, by the file's first npy_header_start bytes.
struct dictionary_place {
  std::uint64_t begin, bytes;
};
dictionary_place dictionary_place_of(std::span<const std::byte> start) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(start[i]); };
  if (byte(6) == 1) return {10, byte(8) | byte(9) << 8};
  return {12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
}

}  // namespace

std::string_view numpy_code(dtype type) { return codes[static_cast<std::size_t>(type)]; }

std::uint64_t checked_bytes(dtype type, std::span<const std::uint64_t> shape) {
  std::uint64_t bytes = size_of(type);
  bool empty = false;
  for (const std::uint64_t size : shape) {
    empty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes)) refuse("its shape has more than 2^64 bytes");
  }
  if (bytes > (std::uint64_t{1} << 63)) refuse("its shape has more than 2^63 bytes");
  return empty ? 0 : bytes;
}

std::uint64_t npy_header_bytes(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (!text.starts_with(magic) || text.size() < npy_header_start) return text.size();
  const auto [begin, bytes] = dictionary_place_of(start);
  return std::min(begin + bytes, npy_header_start + largest_npy_header);
}

npy_header parse_npy_header(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.substr(0, magic.size()) != magic) refuse("is not a NumPy file: it does not begin with \\x93NUMPY");
  if (text.size() < 10) refuse("ends within its header");
  const auto version = [&](std::size_t i) { return static_cast<unsigned>(start[magic.size() + i]); };
  if (version(0) < 1 || version(0) > 3 || version(1) != 0)
    refuse("has format version " + std::to_string(version(0)) + "." + std::to_string(version(1)) +
           "; versions 1.0, 2.0 and 3.0 are known");
  if (text.size() < npy_header_start) refuse("ends within its header");
  const auto [begin, length] = dictionary_place_of(start);
  if (length > largest_npy_header)
    refuse("says that its header has " + std::to_string(length) + " bytes; at most " +
           std::to_string(largest_npy_header) + " are read");
  if (text.size() - begin < length) refuse("ends within its header");
  npy_header header;
  header_text dictionary(text.substr(begin, length));
  parse_dictionary(dictionary, header);
  header.data_offset = begin + length;
  header.data_bytes = checked_bytes(header.type, header.shape);
  return header;
}

std::string format_npy_header(dtype type, std::span<const std::uint64_t> shape) {
  std::string sizes;
  for (const std::uint64_t size : shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  if (shape.size() == 1) sizes += ",";
  std::string text =
      "{'descr': '<" + std::string(numpy_code(type)) + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  const std::size_t unpadded = magic.size() + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  const std::string length{static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return std::string(magic) + std::string("\x01\x00", 2) + length + text;
}

}  // namespace tilewise::io
