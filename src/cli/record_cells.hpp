// The cells that the tables of `bench` share.
#pragma once

#include "lab/record.hpp"

#include <string>

namespace tilewise::cli {

/// The samples of a right and timed row, or null.
const lab::series* kernel_of(const lab::record& r);
double median_ns(const lab::record& r);
/// Whether it is the device's own copy or its multiply-adds.
bool is_limit(const lab::record& r);

/// Padded to a width on the terminal.
std::string left(const std::string& text, std::size_t width);
std::string right(const std::string& text, std::size_t width);

/// The variant, where it runs, and what of its tuning is not the default.
std::string label_of(const lab::record& r);
inline constexpr std::size_t label_width = 31;
/// Nothing of a label is cut: what does not fit stands in lines above the one with the numbers.
std::string wrapped(const std::string& label);

/// Half the interval over the median, "1.2%"; empty where there is no interval.
std::string spread_of(const lab::summary& s);
std::string bits_of(const lab::record& r);
std::string size_of_problem(const lab::record& r);
/// "scan.f32  n = 67,108,865  op sum  kind inclusive"; settings that are "none" are left out.
std::string problem_name(const lab::record& r);

}  // namespace tilewise::cli
