// SPDX-License-Identifier: Apache-2.0
#include "golden.hpp"

#include "registry/catalog.hpp"

#include <tilewise/version.hpp>

#include <algorithm>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>

namespace tilewise::embedded {
extern const std::string_view golden_digests;
}

namespace tilewise::tests {

namespace {

/// Each combination uses two sizes, in rotation over the edge shapes up to this many elements.
constexpr std::uint64_t largest = 8193;
constexpr std::size_t sizes_each = 2;
/// The data classes that existed when the digests were first recorded. Another class would shift the rotation.
constexpr auto kept_classes = std::span(lab::all_data_classes).first<10>();

std::string name_of_case(const registry::problem& p, lab::data_class data, std::uint64_t seed) {
  return to_string(p) + " data=" + std::string(name_of(data)) + " seed=" + std::to_string(seed);
}

void write_digests(std::ostream& out, const registry::algorithm& what) {
  std::vector<registry::extents> shapes;
  for (const registry::extents& shape : what.edge_shapes)
    if (*std::max_element(shape.size.begin(), shape.size.end()) <= largest) shapes.push_back(shape);
  std::uint64_t seed = 0;
  for (dtype type : what.types)
    for (lab::data_class data : kept_classes)
      for (const registry::problem& like : lab::problems_at(what, type, shapes.back(), 0))
        for (std::size_t k = 0; k < sizes_each; ++k, ++seed)
          for (registry::problem& p : lab::problems_at(what, type, shapes[seed % shapes.size()], seed))
            if (p.setting == like.setting)
              out << name_of_case(p, data, seed) << ' ' << lab::make_case(p, data, seed).expected_digest << '\n';
}

template <class T, std::size_t N>
T find_named(const std::array<T, N>& all, const std::string& name) {
  for (T value : all)
    if (name_of(value) == name) return value;
  throw error(errc::io, "a golden digest names '" + name + "', which is not there any more");
}

/// The value in a text of "key=value" words.
std::string value_of(const std::string& line, const std::string& key) {
  const auto at = line.find(" " + key + "=");
  if (at == line.npos) throw error(errc::io, "a golden digest lacks " + key + ": " + line);
  const auto begin = at + key.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

registry::extents parse_shape(const std::string& text) {
  registry::extents shape;
  std::istringstream sizes(text);
  for (std::string size; std::getline(sizes, size, 'x');) shape.size[shape.rank++] = std::stoull(size);
  return shape;
}

golden_line parse(const std::string& line) {
  const auto dot = line.find('.'), space = line.find(' '), last = line.rfind(' ');
  golden_line result{.problem = {},
                     .data = find_named(lab::all_data_classes, value_of(line, "data")),
                     .seed = std::stoull(value_of(line, "seed")),
                     .digest = line.substr(last + 1)};
  const registry::algorithm& what = registry::find_algorithm(line.substr(0, dot));
  const dtype type = find_named(all_dtypes, line.substr(dot + 1, space - dot - 1));
  for (const auto& p : lab::problems_at(what, type, parse_shape(value_of(line, "n")), result.seed))
    if (name_of_case(p, result.data, result.seed) == line.substr(0, last)) result.problem = p;
  if (result.problem.what == nullptr) throw error(errc::io, "no problem is called '" + line.substr(0, last) + "'");
  return result;
}

std::string version_line() { return "order_version " + std::to_string(order_version); }

/// The lines to keep: all lines of this version of the order.
std::string kept_lines() {
  std::ostringstream text;
  text << std::ifstream(golden_path()).rdbuf();
  const std::string first = version_line() + "\n";
  return text.str().starts_with(first) ? text.str() : first;
}

bool has_lines_of(const registry::algorithm& what, const std::string& lines) {
  return lines.find("\n" + std::string(what.name) + ".") != lines.npos;
}

}  // namespace

std::string golden_path() { return TILEWISE_TEST_FOLDER "/golden/digests.txt"; }

void write_golden() {
  const std::string kept = kept_lines();
  std::ofstream out(golden_path());
  out << kept;
  for (const registry::algorithm* what : registry::algorithms())
    if (!has_lines_of(*what, kept)) write_digests(out, *what);
  if (!out.flush()) throw error(errc::io, "cannot write " + golden_path());
}

std::vector<golden_line> read_golden() {
  std::istringstream in{std::string(embedded::golden_digests)};
  std::string line;
  std::getline(in, line);
  if (line != version_line())
    throw error(errc::io, golden_path() + " begins with '" + line + "', not with '" + version_line() +
                              "'; tilewise-tests --write-golden writes it");
  std::vector<golden_line> all;
  while (std::getline(in, line) && !line.empty()) all.push_back(parse(line));  // ends in an empty line
  return all;
}

}  // namespace tilewise::tests
