// SPDX-License-Identifier: Apache-2.0
// Builds HTML that its data cannot break. A string from a record becomes HTML only through text() or an attribute's
// value, and both escape it. Tags and attribute names are literals of this program.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tilewise::report {

/// A string literal of the source code.
struct literal {
  template <std::size_t N>
  consteval literal(const char (&text)[N]) : value(text, N - 1) {}  // NOLINT: implicit, so that "td" is one
  std::string_view value;
};

struct attribute;

class html {
 public:
  html() = default;
  html(const char* words) : html(escaped(words)) {}  // NOLINT: implicit

  /// Every string that does not come from this program must pass through here. Very long ones are cut.
  static html text(std::string_view untrusted);
  /// A sentence of this program that contains such strings.
  static html sentence(std::string_view words);

  html& operator+=(const html& more) {
    code_ += more.code_;
    return *this;
  }
  friend html operator+(html left, const html& right) { return left += right; }

  bool empty() const { return code_.empty(); }
  std::size_t size() const { return code_.size(); }
  const std::string& code() const { return code_; }

 private:
  friend html tag(literal, std::initializer_list<attribute>, html);
  friend html empty_tag(literal, std::initializer_list<attribute>);
  explicit html(std::string code) : code_(std::move(code)) {}
  static std::string escaped(std::string_view text);
  std::string code_;
};

struct attribute {
  literal name;
  std::string value;
};

/// <name attribute="value" ...>children</name>. Rows and cells of tables have no end tag, which HTML lets a page
/// leave out. Move the children in: they are not copied then, and tables are large and several tags deep.
html tag(literal name, std::initializer_list<attribute> attributes, html children);
inline html tag(literal name, html children) { return tag(name, {}, std::move(children)); }
/// <name attribute="value" ...>, without an end tag: img, br.
html empty_tag(literal name, std::initializer_list<attribute> attributes);

/// What unpack.js unpacks: gzip in base64, so that nothing in it can end its <script> block.
std::string packed(std::string_view text);

}  // namespace tilewise::report
