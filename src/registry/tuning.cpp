// SPDX-License-Identifier: Apache-2.0
#include "registry/tuning.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <sstream>

namespace tilewise::registry {

namespace {

std::string word_of(const tuning_axis& axis, unsigned value) {
  return axis.words.empty() ? std::to_string(value) : std::string(axis.words[value]);
}

unsigned parse_value(const tuning_axis& axis, const std::string& text) {
  for (unsigned value : axis.values)
    if (word_of(axis, value) == text) return value;
  throw error(errc::invalid_argument,
              "tuning '" + std::string(axis.name) + "' does not take '" + text + "'; it takes " + values_of(axis));
}

}  // namespace

std::string values_of(const tuning_axis& axis) {
  std::string text;
  for (unsigned value : axis.values) text += (text.empty() ? "" : "|") + word_of(axis, value);
  return text;
}

tuning default_tuning(std::span<const tuning_axis> axes) {
  tuning result;
  for (std::size_t i = 0; i < axes.size(); ++i) result.value[i] = axes[i].preset;
  return result;
}

std::vector<tuning> tuning_space(std::span<const tuning_axis> axes) {
  std::vector<tuning> space{default_tuning(axes)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<tuning> wider;
    for (tuning t : space)
      for (unsigned value : axes[i].values) {
        t.value[i] = value;
        wider.push_back(t);
      }
    space = std::move(wider);
  }
  return space;
}

std::string to_string(const tuning& t, std::span<const tuning_axis> axes) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += (i == 0 ? "" : " ") + std::string(axes[i].name) + "=" + word_of(axes[i], t.value[i]);
  return text;
}

std::string changes_of(const tuning& t, std::span<const tuning_axis> axes) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (t.value[i] != axes[i].preset)
      text += (text.empty() ? "" : " ") + std::string(axes[i].name) + "=" + word_of(axes[i], t.value[i]);
  return text;
}

tuning parse_tuning(std::string_view text, std::span<const tuning_axis> axes) {
  tuning result = default_tuning(axes);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const auto axis =
        std::find_if(axes.begin(), axes.end(), [&](const tuning_axis& a) { return a.name == word.substr(0, equals); });
    if (equals == word.npos || axis == axes.end()) {
      std::string known;
      for (const tuning_axis& a : axes) known += " " + std::string(a.name) + "=" + values_of(a);
      throw error(errc::invalid_argument,
                  "tuning '" + word + "' is not one of this variant's; it has:" + (known.empty() ? " none" : known));
    }
    result.value[static_cast<std::size_t>(axis - axes.begin())] = parse_value(*axis, word.substr(equals + 1));
  }
  return result;
}

}  // namespace tilewise::registry
