// SPDX-License-Identifier: Apache-2.0
// Converts a record and its parts to JSON, and back.
#pragma once

#include "record/fields.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace tilewise::record {

template <class T>
inline constexpr bool is_added = false;
template <class T>
inline constexpr bool is_added<added<T>> = true;

template <class T>
nlohmann::json to_json(const std::optional<T>& value);
template <class T>
nlohmann::json to_json(const added<T>& value);
template <class T>
nlohmann::json to_json(const std::vector<T>& values);

/// As it is written to a file: a part is an object with its keys, a word is its name, and what is absent or not finite
/// is null.
template <class T>
nlohmann::json to_json(const T& value) {
  if constexpr (part<T>) {
    nlohmann::json object = nlohmann::json::object();
    each_field<T>([&]<class V>(const field<T, V>& f) {
      const V& of_key = value.*f.member;
      if constexpr (is_added<V>) {
        if (of_key) object[std::string(f.key)] = to_json(*of_key);
      } else {
        object[std::string(f.key)] = to_json(of_key);
      }
    });
    return object;
  } else if constexpr (word<T>) {
    return name_of(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  } else {
    return value;
  }
}
template <class T>
nlohmann::json to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : nlohmann::json();
}
template <class T>
nlohmann::json to_json(const added<T>& value) {
  return value ? to_json(*value) : nlohmann::json();
}
template <class T>
nlohmann::json to_json(const std::vector<T>& values) {
  nlohmann::json array = nlohmann::json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

/// Accepts any JSON object. A value whose type is not the schema's counts as absent and keeps its default.
result from_json(const nlohmann::json& object);

}  // namespace tilewise::record
