// SPDX-License-Identifier: Apache-2.0
// Tuning: named values that change the speed of a variant, but no bit of its result.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::registry {

/// One tuning parameter of a variant: its name and the values that it may take.
struct tuning_axis {
  std::string_view name;
  std::span<const unsigned> values;
  unsigned preset;                               // the default, one of `values`
  std::span<const std::string_view> words = {};  // names of the values 0, 1, ..., if they have any
};

/// A value for each axis of a variant, in the order of its axes.
struct tuning {
  std::array<unsigned, 6> value{};

  /// The values of a variant's axes. Callers name them in one place:
  /// const auto [width, height] = t.of(axes);
  template <std::size_t Axes>
  std::array<unsigned, Axes> of(const std::array<tuning_axis, Axes>&) const {
    std::array<unsigned, Axes> values;
    std::copy_n(value.begin(), Axes, values.begin());
    return values;
  }
  bool operator==(const tuning&) const = default;
};

/// The values of an axis, as "64|128|256".
std::string values_of(const tuning_axis& axis);

tuning default_tuning(std::span<const tuning_axis> axes);

/// Every combination of every axis's values.
std::vector<tuning> tuning_space(std::span<const tuning_axis> axes);

/// "group_size=64 carry=local"; parse_tuning is the inverse. It starts from the default, so the text may name only some
/// axes. It throws `invalid_argument` with the axes or values to choose from.
std::string to_string(const tuning& t, std::span<const tuning_axis> axes);
tuning parse_tuning(std::string_view text, std::span<const tuning_axis> axes);

/// Like to_string, but only the values that differ from the default; empty for the default itself.
std::string changes_of(const tuning& t, std::span<const tuning_axis> axes);

}  // namespace tilewise::registry
