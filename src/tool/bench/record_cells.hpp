// SPDX-License-Identifier: Apache-2.0
// Cells that the tables of `bench` share.
#pragma once

#include "lab/bench/measured.hpp"

#include <string>

namespace tilewise::cli {

/// Pads the text to this width on the terminal.
std::string left(const std::string& text, std::size_t width);
std::string right(const std::string& text, std::size_t width);

/// Wraps a text to lines of this width. All lines but the first begin with the indent.
std::string folded(const std::string& text, std::size_t width, const std::string& indent);

/// The variant, where it ran, and its tuning if that is not the default.
std::string label_of(const lab::measured& m);
inline constexpr std::size_t label_width = 31;
/// A label in its column. It is never cut: what does not fit goes on lines above the line with the numbers.
std::string wrapped(const std::string& label);

/// Half the interval over the median, "1.2%"; empty if there is no interval.
std::string spread_of(const record::clock& taken);
std::string bits_of(const lab::measured& m);
/// What one call on a group of devices sends between its ranks, as a line of its own; empty for other rows.
std::string travel_of(const lab::measured& m);
std::string size_of_problem(const lab::measured& m);
/// "scan.f32  n = 67,108,865  op sum  kind inclusive"; settings that are "none" are left out.
std::string problem_name(const lab::measured& m);

}  // namespace tilewise::cli
