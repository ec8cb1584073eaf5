// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include "report/format.hpp"
#include "report/model.hpp"

namespace tilewise::report {

html html::text(std::string_view untrusted) { return html(escaped(clipped(untrusted, page_limits::text))); }
html html::sentence(std::string_view words) { return html(escaped(clipped(words, page_limits::sentence))); }

std::string html::escaped(std::string_view text) {
  std::string code;
  code.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&': code += "&amp;"; break;
      case '<': code += "&lt;"; break;
      case '>': code += "&gt;"; break;
      case '"': code += "&quot;"; break;
      case '\'': code += "&#39;"; break;
      default: {
        const bool is_control = static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t';
        if (is_control)
          code += "\xEF\xBF\xBD";  // U+FFFD, since HTML cannot contain control characters
        else
          code += c;
      }
    }
  return code;
}

html empty_tag(literal name, std::initializer_list<attribute> attributes) {
  std::string code = "<" + std::string(name.value);
  for (const auto& [key, value] : attributes)
    code += " " + std::string(key.value) + "=\"" + html::escaped(value) + "\"";
  return html(code + ">");
}

html tag(literal name, std::initializer_list<attribute> attributes, html children) {
  children.code_.insert(0, empty_tag(name, attributes).code());
  children.code_ += "</" + std::string(name.value) + ">";
  return children;
}

std::string escape_json(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      escaped += "\\u003c";
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace tilewise::report
