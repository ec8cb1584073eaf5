// SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.hpp"

#include "base/printable.hpp"
#include "base/variable.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

namespace tilewise::io {

namespace {

constexpr std::array<std::string_view, 6> codes{"f4", "f8", "i4", "i8", "u4", "u8"};
constexpr std::string_view accepted = "Tilewise reads f4, f8, i4, i8, u4 and u8";

/// NumPy accepts any Python literal of such a dictionary, so it may read headers that we refuse.
constexpr const char* if_numpy_reads = "; if NumPy reads the file, ";

/// Advice: the NumPy call that converts the file, and what the call does.
std::string saved(const std::string& how, const std::string& what) {
  return "np.save(\"new.npy\", np.load(\"old.npy\")" + how + ") " + what;
}

[[noreturn]] void refuse(const std::string& why) { throw error(errc::io, why); }
[[noreturn]] void refuse_text(const std::string& why) {
  refuse(why + if_numpy_reads + saved("", "writes one that Tilewise reads"));
}

/// The rest of the dictionary's text, as a parser.
class header_text {
 public:
  /// Python 2 wrote long numbers with the suffix L, but only in versions 1 and 2 of the format.
  header_text(std::string_view text, unsigned version) : rest_(text), has_long_(version <= 2) {}

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\f\r\n"), rest_.size())); }
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
      refuse_text(std::string("the header lacks a '") + wanted + "' before '" + base::printable(rest_) + "'");
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Parses a quoted text without escapes. Python 2 may have written it as u'text'.
  std::string_view quoted() {
    const char first = next();
    const std::size_t prefix = first == 'u' || first == 'U' ? 1 : 0;
    const char quote = prefix < rest_.size() ? rest_[prefix] : '\0';
    if (quote != '\'' && quote != '"')
      refuse_text("the header lacks a quoted text before '" + base::printable(rest_) + "'");
    const auto begin = prefix + 1, end = rest_.find(quote, begin);
    if (end == rest_.npos) refuse_text("the header has a quote that does not end");
    const std::string_view text = rest_.substr(begin, end - begin);
    if (text.find('\\') != text.npos) refuse_text("the header has an escape in '" + base::printable(text) + "'");
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
      refuse_text("the shape has '" + base::printable(rest_) + "' where a dimension should be");
    rest_.remove_prefix(digits);
    if (has_long_ && rest_.starts_with('L')) rest_.remove_prefix(1);
    return value;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool has_long_;
};

/// NumPy's names of each type. A one-letter code may follow a byte order; a longer name may not.
constexpr std::array<std::string_view, 6> spellings{
    "f4 f float32 single", "f8 d float64 double float float_",
    "i4 i int32 intc",     "i8 l q p int64 int int_ intp int0 long longlong",
    "u4 I uint32 uintc",   "u8 L Q P uint64 uint uintp uint0 ulong ulonglong"};

/// NumPy types that are not supported, and how to convert them.
struct conversion {
  std::string_view from;
  const char *how, *what;
};
constexpr std::array<conversion, 6> conversions{{
    {"e f2 half float16", ".astype(\"f4\")", "converts it"},
    {"g f16 longdouble float128", ".astype(\"f8\")", "converts it"},
    {"b h i1 i2 byte short int8 int16 ? b1 B H u1 u2 bool bool_ ubyte ushort uint8 uint16", ".astype(\"i8\")",
     "converts it; for convolve \"f4\" instead of \"i8\""},
    {"F D G c8 c16 c32 complex complex64 complex128 complex256", ".real.astype(\"f8\")",
     "saves the real parts, and .imag the others"},
    {"M m M8 m8 datetime64 timedelta64", ".astype(\"i8\")", "saves its counts"},
    {"S U", ".astype(\"f8\")", "converts text that is numbers"},
}};

/// The end of a message about elements of another type.
std::string advice_for(std::string_view code) {
  const bool is_text = code.starts_with('S') || code.starts_with('U');
  const std::string_view kind = code.substr(0, is_text ? code.find_first_of("0123456789") : code.find('['));
  for (const auto& [from, how, what] : conversions)
    if (base::has_word(from, kind)) return (kind == code || is_text ? "; " : if_numpy_reads) + saved(how, what);
  if (code.starts_with('O') || code.starts_with('V') || code.starts_with("object")) return "; save an array of numbers";
  return if_numpy_reads + saved("", "writes its type in the usual way");
}

/// Advice for a file of another format, recognized by how it begins.
std::string advice_for_another_file(std::string_view start) {
  const auto is_text = [](unsigned char c) { return std::isprint(c) != 0 || std::isspace(c) != 0 || c >= 0x80; };
  if (start.empty()) return "; it is empty";
  if (start.starts_with("PK"))
    return "; of an .npz, np.save(\"new.npy\", np.load(\"old.npz\")[\"NAME\"]) saves one array";
  if (std::all_of(start.begin(), start.end(), is_text))
    return "; of text, np.save(\"new.npy\", np.loadtxt(\"old.csv\", delimiter=\",\")) makes one: add skiprows=1 for a "
           "first line of names, usecols=0 for one column";
  return "; if it holds elements alone, name their type with --dtype";
}

void parse_descr(header_text& text, npy_header& header) {
  const bool is_list = text.next() == '[';
  const std::string_view descr = is_list ? "" : text.quoted();
  const std::size_t comma = descr.find(',', descr.starts_with('(') ? descr.find(')') : 0);
  if (is_list || (comma != descr.npos && descr.find_first_not_of(' ', comma + 1) != descr.npos))
    refuse("its elements are records; " + std::string(accepted) + if_numpy_reads +
           saved("[\"FIELD\"]", "saves a field of theirs"));
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  const std::string_view code = descr.substr(has_order ? 1 : 0);
  const bool may_have_order = code.size() < 2 || std::isalpha(static_cast<unsigned char>(code[1])) == 0;  // a code
  for (std::size_t i = 0; i < spellings.size(); ++i) {
    if (!base::has_word(spellings[i], code) || (has_order && !may_have_order)) continue;
    header.type = all_dtypes[i];
    header.big_endian = descr[0] == '>';
    return;
  }
  refuse("its elements have type '" + base::printable(descr) + "'; " + std::string(accepted) +
         advice_for(may_have_order ? code : descr));
}

void parse_shape(header_text& text, npy_header& header) {
  header.shape.clear();  // if the dictionary has two shapes, the last one counts
  text.expect('(');
  bool comma = true;
  while (!text.take(')')) {
    if (!comma) refuse_text("the shape lacks a comma before '" + base::printable(text.rest()) + "'");
    if (header.shape.size() == most_npy_dimensions)
      refuse("it has more than " + std::to_string(most_npy_dimensions) + " dimensions" + if_numpy_reads +
             saved(".reshape(-1)", "makes them one"));
    header.shape.push_back(text.number());
    comma = text.take(',');
  }
  if (header.shape.size() == 1 && !comma) refuse("the shape is not a tuple: one dimension is written (3,)");
}

void parse_order(header_text& text, npy_header& header) {
  header.fortran_order = text.take_word("True");
  if (!header.fortran_order && !text.take_word("False")) refuse_text("fortran_order is neither True nor False");
}

void parse_dictionary(header_text& text, npy_header& header) {
  constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};
  constexpr std::array parsers{parse_descr, parse_order, parse_shape};
  std::array<bool, 3> seen{};
  text.expect('{');
  bool comma = true;
  while (!text.take('}')) {
    if (!comma) refuse_text("the header lacks a comma before '" + base::printable(text.rest()) + "'");
    const std::string_view key = text.quoted();
    text.expect(':');
    const auto which = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (which == keys.size()) refuse("the header has an unknown key '" + base::printable(key) + "'");
    seen[which] = true;
    parsers[which](text, header);
    comma = text.take(',');
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!seen[i]) refuse("the header lacks the key '" + std::string(keys[i]) + "'");
  text.skip_spaces();
  if (!text.rest().empty())
    refuse_text("the header goes on after its dictionary: '" + base::printable(text.rest()) + "'");
}

/// Where the dictionary begins and its length, from the file's first npy_header_start bytes.
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

std::optional<dtype> type_called(std::string_view name) {
  if (name.size() > 1 && (name[0] == '<' || name[0] == '=')) name.remove_prefix(1);
  for (std::size_t i = 0; i < spellings.size(); ++i)
    if (base::has_word(spellings[i], name)) return all_dtypes[i];
  return std::nullopt;
}

std::string advice_for_raw_elements(std::string_view type) {
  std::string how;
  const std::string_view code = type.substr(type.find_first_not_of("<>=|") == 1 ? 1 : 0);
  if (const std::optional<dtype> ours = type_called(code)) how = ".astype(\"" + std::string(numpy_code(*ours)) + "\")";
  for (const conversion& c : conversions)
    if (base::has_word(c.from, code)) how = c.how;
  if (how.empty()) return "";
  return "; np.save(\"new.npy\", np.fromfile(\"old.raw\", \"" + base::printable(type) + "\")" + how + ") converts them";
}

std::uint64_t checked_bytes(dtype type, std::span<const std::uint64_t> shape) {
  std::uint64_t bytes = size_of(type);
  bool empty = false;
  for (const std::uint64_t size : shape) {
    empty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes)) refuse("its shape has more than 2^64 bytes");
  }
  if (bytes >= std::uint64_t{1} << 63) refuse("its shape has 2^63 bytes or more");
  return empty ? 0 : bytes;
}

std::uint64_t npy_header_bytes(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (!text.starts_with(npy_magic) || text.size() < npy_header_start) return text.size();
  const auto [begin, bytes] = dictionary_place_of(start);
  return std::min(begin + bytes, npy_header_start + largest_npy_header);
}

npy_header parse_npy_header(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.substr(0, npy_magic.size()) != npy_magic)
    refuse("is not a NumPy file: it does not begin with \\x93NUMPY" + advice_for_another_file(text));
  if (text.size() < 10) refuse("ends within its header");
  const auto version = [&](std::size_t i) { return static_cast<unsigned>(start[npy_magic.size() + i]); };
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
  header_text dictionary(text.substr(begin, length), version(0));
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
  const std::size_t unpadded = npy_magic.size() + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  const std::string length{static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return std::string(npy_magic) + std::string("\x01\x00", 2) + length + text;
}

}  // namespace tilewise::io
