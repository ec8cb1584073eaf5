// SPDX-License-Identifier: Apache-2.0
#include "record/reader.hpp"

#include "record/json.hpp"

#include <limits>
#include <new>

#include <simdjson.h>

namespace tilewise::record {

static_assert(record_reader::padding >= simdjson::SIMDJSON_PADDING);

struct record_reader::parser : simdjson::dom::parser {};

namespace {

using nlohmann::json;
using simdjson::dom::element;

constexpr int depth_limit = 64;  // a record nests 5 deep; deeper ones are hostile
constexpr std::size_t usual_bytes = 1 << 16;

// Each returns whether the JSON was of the value's type.
bool read(element from, bool& to) { return from.get(to) == simdjson::SUCCESS; }
bool read(element from, count& to) { return from.get(to) == simdjson::SUCCESS; }

bool read(element from, text& to) {
  std::string_view found;
  return from.get(found) == simdjson::SUCCESS && (to = found, true);
}

bool read(element from, double& to) {
  if (from.is_null()) to = std::numeric_limits<double>::quiet_NaN();
  return from.is_null() || from.get(to) == simdjson::SUCCESS;
}

template <word W>
bool read(element from, W& to) {
  std::string_view name;
  const auto found = from.get(name) == simdjson::SUCCESS ? word_of<W>(name) : std::nullopt;
  if (found) to = *found;
  return found.has_value();
}

template <part T>
bool read(element from, T& to);

template <class T>
bool read(element from, std::optional<T>& to) {
  if (from.is_null()) return true;
  if (read(from, to.emplace())) return true;
  to.reset();
  return false;
}

template <class T>
bool read(element from, std::vector<T>& to) {
  simdjson::dom::array entries;
  if (from.get(entries) != simdjson::SUCCESS) return false;
  for (const element entry : entries)
    if (T value{}; read(entry, value)) to.push_back(std::move(value));
  return true;
}

bool read(element from, std::map<text, text>& to) {
  simdjson::dom::object entries;
  if (from.get(entries) != simdjson::SUCCESS) return false;
  for (const auto& [key, entry] : entries)
    if (text value; read(entry, value)) to.emplace(key, std::move(value));
  return true;
}

template <part T>
bool read(element from, T& to) {
  simdjson::dom::object object;
  if (from.get(object) != simdjson::SUCCESS) return false;
  each_field<T>([&]<class V>(const field<T, V>& f) {
    element found;
    if (object.at_key(f.key).get(found) != simdjson::SUCCESS) return;
    if constexpr (is_added<V>) {
      if (V& value = to.*f.member; !read(found, value.emplace())) value.reset();
    } else {
      read(found, to.*f.member);
    }
  });
  return true;
}

std::string_view text_of(element object, std::string_view key) {
  std::string_view found;
  return object.at_key(key).get(found) == simdjson::SUCCESS ? found : std::string_view();
}

/// Which indispensable part is missing; empty if none is.
std::string lack(element object) {
  for (const std::string_view part :
       {key_of(&result::tool), key_of(&result::host), key_of(&result::device), key_of(&result::what)})
    if (!object.at_key(part).is_object()) return "has no object '" + std::string(part) + "'";
  const text what(key_of(&result::what)), device(key_of(&result::device));
  for (const auto member : {&measured_case::group, &measured_case::algorithm, &measured_case::variant,
                            &measured_case::backend, &measured_case::dtype})
    if (text_of(object.at_key(what).value_unsafe(), key_of(member)).empty())
      return "has no text '" + what + "." + std::string(key_of(member)) + "'";
  if (const text name(key_of(&device::name)); text_of(object.at_key(device).value_unsafe(), name).empty())
    return "has no text '" + device + "." + name + "'";
  const text n(key_of(&measured_case::n));
  return object.at_key(what).at_key(n).is_uint64() ? "" : "has no count '" + what + "." + n + "'";
}

/// What is wrong with a line, or empty.
std::string damage(element object) {
  if (!object.is_object()) return "is not a JSON object";
  if (const std::string_view got = text_of(object, key_of(&result::schema)); got != schema_name)
    return "has the schema '" + text(got) + "', and this tool reads '" + text(schema_name) + "'";
  const std::string_view state = text_of(object, key_of(&result::state));
  if (!word_of<status>(state)) return "has the unknown status '" + text(state) + "'";
  return lack(object);
}

/// Of a line that the quick parser refuses, which may do so before it comes to the depth.
bool nests_too_deep(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{') && ++depth > depth_limit)
      return true;
    else if (!in_string && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

element parsed(simdjson::dom::parser& by, const simdjson::padded_string& line) {
  element tree;
  if (const auto failure = by.parse(line).get(tree)) {
    if (failure == simdjson::MEMALLOC) throw std::bad_alloc();
    throw simdjson::simdjson_error(failure);
  }
  return tree;
}

/// Of a line that the quick parser refuses: what is wrong in words, or the numbers beyond 64 bits that JSON allows.
simdjson::padded_string respelt(std::string_view line) { return json::parse(line).dump(); }

}  // namespace

record_reader::record_reader() : parser_(std::make_unique<parser>()) {
  if (parser_->allocate(usual_bytes, depth_limit) != simdjson::SUCCESS) throw std::bad_alloc();
}
record_reader::~record_reader() = default;

std::string record_reader::read(std::string_view line, result& r) {
  element tree;
  const auto failure = parser_->parse(line.data(), line.size(), false).get(tree);
  if (failure == simdjson::MEMALLOC) throw std::bad_alloc();
  try {
    if (failure == simdjson::DEPTH_ERROR || (failure && nests_too_deep(line)))
      return "nests deeper than " + std::to_string(depth_limit) + " levels";
    if (failure) tree = parsed(*parser_, respelt(line));
    const std::string problem = damage(tree);
    if (problem.empty()) record::read(tree, r);
    return problem;
  } catch (const json::exception& problem) {
    return "is damaged: " + std::string(problem.what());
  }
}

result from_json(const json& object) {
  simdjson::dom::parser parser;
  result r;
  read(parsed(parser, object.dump(-1, ' ', false, json::error_handler_t::replace)), r);
  return r;
}

}  // namespace tilewise::record
