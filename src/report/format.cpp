// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace tilewise::report {

namespace {

std::string group_thousands(std::string digits) {
  std::size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = end; at > begin + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string fixed(double value, int decimals) {
  std::array<char, 400> text;  // the largest double has 309 digits before its decimal point
  const auto [end, status] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
  return group_thousands(std::string(text.data(), end));
}

/// `value` in the largest unit in which it is at least 1.
template <std::size_t N>
std::string scaled(double value, double step, const std::array<std::string_view, N>& units) {
  std::size_t unit = 0;
  // 999.5 would be printed as 1,000, which is longer than 1 of the next unit.
  while (unit + 1 < N && value >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  return significant(value, 3) + " " + std::string(units[unit]);
}

}  // namespace

std::string count(std::uint64_t value) { return group_thousands(std::to_string(value)); }

std::string significant(double value, int digits) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "–";
  std::array<char, 64> text;
  const auto [end, status] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, digits - 1);
  // The exponent after rounding: 9.999 with three digits becomes 10.0.
  const char* exponent = std::find(text.data(), end, 'e') + 1;
  int magnitude = 0;
  std::from_chars(*exponent == '+' ? exponent + 1 : exponent, end, magnitude);
  const int decimals = digits - 1 - magnitude;
  if (decimals >= 0) return fixed(value, decimals);
  const double unit = std::pow(10.0, -decimals);
  return fixed(std::round(value / unit) * unit, 0);
}

std::string duration(double nanoseconds) {
  return scaled(nanoseconds, 1000, std::array<std::string_view, 4>{"ns", "µs", "ms", "s"});
}

std::string rate(double bytes_per_second) {
  return scaled(bytes_per_second, 1000, std::array<std::string_view, 5>{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}

std::string element_rate(double elements_per_second) {
  return scaled(elements_per_second, 1000, std::array<std::string_view, 5>{"/s", "k/s", "M/s", "G/s", "T/s"});
}

std::string operation_rate(double per_second, std::string_view dtype) {
  using units = std::array<std::string_view, 5>;
  return scaled(per_second, 1000,
                dtype.starts_with('f') ? units{"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"}
                                       : units{"op/s", "kop/s", "Mop/s", "Gop/s", "Top/s"});
}

std::string throughput_text(double per_second, registry::speed_unit unit, std::string_view dtype) {
  using registry::speed_unit;
  return unit == speed_unit::bytes      ? rate(per_second)
         : unit == speed_unit::elements ? element_rate(per_second)
                                        : operation_rate(per_second, dtype);
}

std::string bytes(double value) {
  return scaled(value, 1024, std::array<std::string_view, 5>{"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string percent(double share) { return significant(share * 100, 2) + " %"; }

std::string clipped(std::string_view text, std::size_t bytes) {
  const std::string shown(base::beginning(text, bytes));
  return shown.size() == text.size() ? shown : shown + "… (" + count(text.size() - shown.size()) + " bytes more)";
}

std::string marked(bool is_sure, const std::string& told) { return is_sure ? told : "? " + told; }

std::string factor(double ratio) { return significant(ratio, 3); }

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  // If only one name would be left out, it is shown: that takes no more room than saying so.
  const std::size_t shown = names.size() > most && names.size() - most > 1 ? most : names.size(),
                    unsaid = names.size() - shown;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == shown && unsaid == 0 ? " and " : ", ") + names[i];
  return unsaid == 0 ? text : text + " and " + count(unsaid) + " more";
}

}  // namespace tilewise::report
