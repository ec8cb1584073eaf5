// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include "io/base64.hpp"
#include "report/format.hpp"
#include "report/model.hpp"

#include <new>
#include <vector>

#include <zlib.h>

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
  if (name.value != "td" && name.value != "th" && name.value != "tr")
    children.code_ += "</" + std::string(name.value) + ">";
  return children;
}

std::string packed(std::string_view text) {
  z_stream gzip{};
  constexpr int with_gzip_header = 15 + 16, default_memory = 8;
  if (deflateInit2(&gzip, Z_BEST_COMPRESSION, Z_DEFLATED, with_gzip_header, default_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::vector<std::byte> bytes(deflateBound(&gzip, text.size()));
  gzip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib only reads it
  gzip.avail_in = static_cast<uInt>(text.size());
  gzip.next_out = reinterpret_cast<Bytef*>(bytes.data());
  gzip.avail_out = static_cast<uInt>(bytes.size());
  deflate(&gzip, Z_FINISH);
  bytes.resize(gzip.total_out);
  deflateEnd(&gzip);
  return io::base64(bytes);
}

}  // namespace tilewise::report
