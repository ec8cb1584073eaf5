// SPDX-License-Identifier: Apache-2.0
// Formats numbers for people: thousands separators, three significant digits, a unit. The same in every locale.
#pragma once

#include "registry/algorithm.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::report {

std::string count(std::uint64_t value);                // 67,108,865
std::string significant(double value, int digits);     // 1234.5, 3 -> "1,230"; 0.01234, 3 -> "0.0123"
std::string duration(double nanoseconds);              // "812 ns", "1.23 µs", "45.6 ms", "1.20 s"
std::string rate(double bytes_per_second);             // "4.18 TB/s"
std::string element_rate(double elements_per_second);  // "2.12 G/s"
/// "54.3 TFLOP/s" for floats, "54.3 Top/s" for integers, or for all types if `dtype` is empty.
std::string operation_rate(double per_second, std::string_view dtype);
std::string throughput_text(double per_second, registry::speed_unit unit, std::string_view dtype);
std::string bytes(double value);    // "32.0 MiB"
std::string percent(double share);  // 0.0123 -> "1.23 %"
/// At most `bytes` bytes of the text, then how many were cut. Never cuts a UTF-8 character in two.
std::string clipped(std::string_view text, std::size_t bytes);
/// "? 1.25 ms": this mark stands before everything that depends on a time or a limit that cannot be trusted.
std::string marked(bool is_sure, const std::string& told);
std::string factor(double ratio);  // "1.05", "110", "12,300"
/// "a", "a and b", "a, b and c"; beyond `most` names "a, b and 7 more", but never "1 more".
std::string listed(const std::vector<std::string>& names, std::size_t most);

}  // namespace tilewise::report
