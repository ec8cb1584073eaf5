// SPDX-License-Identifier: Apache-2.0
#include "record/record_json.hpp"

#include <limits>

namespace tilewise::record {

namespace {

using nlohmann::json;

// Each returns whether the JSON was of the value's type.
bool read(const json& from, bool& to) { return from.is_boolean() && (from.get_to(to), true); }
bool read(const json& from, text& to) { return from.is_string() && (from.get_to(to), true); }
bool read(const json& from, count& to) { return from.is_number_unsigned() && (from.get_to(to), true); }

bool read(const json& from, double& to) {
  if (from.is_null()) to = std::numeric_limits<double>::quiet_NaN();
  return from.is_null() || (from.is_number() && (from.get_to(to), true));
}

template <word W>
bool read(const json& from, W& to) {
  const auto found = from.is_string() ? word_of<W>(from.get_ref<const text&>()) : std::nullopt;
  if (found) to = *found;
  return found.has_value();
}

template <part T>
bool read(const json& from, T& to);

template <class T>
bool read(const json& from, std::optional<T>& to) {
  if (from.is_null()) return true;
  if (read(from, to.emplace())) return true;
  to.reset();
  return false;
}

template <class T>
bool read(const json& from, std::vector<T>& to) {
  if (!from.is_array()) return false;
  for (const json& entry : from)
    if (T value{}; read(entry, value)) to.push_back(std::move(value));
  return true;
}

bool read(const json& from, std::map<text, text>& to) {
  if (!from.is_object()) return false;
  for (const auto& [key, entry] : from.items())
    if (text value; read(entry, value)) to.emplace(key, std::move(value));
  return true;
}

template <part T>
bool read(const json& from, T& to) {
  if (!from.is_object()) return false;
  each_field<T>([&]<class V>(const field<T, V>& f) {
    const auto found = from.find(f.key);
    if (found == from.end()) return;
    if constexpr (is_added<V>) {
      if (V& value = to.*f.member; !read(*found, value.emplace())) value.reset();
    } else {
      read(*found, to.*f.member);
    }
  });
  return true;
}

}  // namespace

result from_json(const json& object) {
  result r;
  read(object, r);
  return r;
}

}  // namespace tilewise::record
