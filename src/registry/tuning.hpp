// SPDX-License-Identifier: Apache-2.0
// Tuning: named values that change the speed of a variant and never a bit of its result.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::registry {

/// One knob of a variant: its name, the values it may take, in words where a number would say less.
struct tuning_axis {
  std::string_view name;
  std::span<const unsigned> values;
  unsigned preset;                               // the default, one of `values`
  std::span<const std::string_view> words = {};  // names of the values 0, 1, ..., if they have any
};

/// A value for each axis of a variant, in the variant's order of axes. Comparable and printable.
struct tuning {
  std::array<unsigned, 6> value{};

  /// The values of a variant's axes. Whoever needs them gives them names, once and before anything else:
  /// const auto [width, height] = t.of(axes);
  template <std::size_t Axes>
  std::array<unsigned, Axes> of(const std::array<tuning_axis, Axes>&) const {
    std::array<unsigned, Axes> values;
    std::copy_n(value.begin(), Axes, values.begin());
    return values;
  }
  bool operator==(const tuning&) const = default;
};

/// "64|128|256": what the axis takes.
std::string values_of(const tuning_axis& axis);

tuning default_tuning(std::span<const tuning_axis> axes);

/// Every combination of every axis's values.
std::vector<tuning> tuning_space(std::span<const tuning_axis> axes);

/// "group_size=64 carry=local"; parse is its inverse and starts from the default, so a part of the text will do.
/// parse throws `invalid_argument`, naming the axes or values to choose from.
std::string to_string(const tuning& t, std::span<const tuning_axis> axes);
tuning parse_tuning(std::string_view text, std::span<const tuning_axis> axes);

/// As to_string, but only what differs from the default: empty for the default itself.
std::string changes_of(const tuning& t, std::span<const tuning_axis> axes);

}  // namespace tilewise::registry
