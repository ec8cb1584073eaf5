// SPDX-License-Identifier: Apache-2.0
// From a request to the problem that it describes.
#include "base/number.hpp"
#include "call/call.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewise::call {

namespace {

/// The position of a setting, which is `likely` if the request has them in the descriptor's order.
std::size_t position_of(const algorithm& what, std::string_view name, std::size_t likely) {
  if (likely < what.settings.size() && what.settings[likely].name == name) return likely;
  for (std::size_t i = 0; i < what.settings.size(); ++i)
    if (what.settings[i].name == name) return i;
  throw error(errc::invalid_argument, std::string(what.name) + " has no setting " + std::string(name));
}

/// An out-of-range position of a value stays one, so that admit() refuses it.
void set(problem& p, std::string_view name, unsigned value, std::size_t likely) {
  constexpr unsigned most = std::numeric_limits<std::uint8_t>::max();
  p.setting[position_of(*p.what, name, likely)] = static_cast<std::uint8_t>(std::min(value, most));
}

base::scalar_value as_given(const number& given) { return {given.type(), given.bits()}; }

/// Calls `f` with the number in the type in which it was given.
template <class F>
auto with_value(const number& given, const F& f) {
  return with_type(given.type(), [&]<class T>(T) { return f(as_given(given).as<T>()); });
}

template <class T, class Given>
bool fits(Given value) {
  if constexpr (std::is_floating_point_v<T>) {
    return !std::isinf(static_cast<T>(value)) || std::isinf(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<Given>) {
    return std::in_range<T>(value);
  } else {  // the powers of two that bound T are exact; a NaN is in no range
    const Given end = std::ldexp(Given(1), std::numeric_limits<T>::digits);
    return value == std::trunc(value) && value < end && value >= (std::is_signed_v<T> ? -end : Given(0));
  }
}

template <class T>
std::string what_fits() {
  if constexpr (std::is_floating_point_v<T>)
    return "a number up to " + base::to_string(base::scalar_value::of(std::numeric_limits<T>::max()));
  else
    return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
           std::to_string(std::numeric_limits<T>::max());
}

}  // namespace

number number_of(const request& r, std::string_view name) {
  for (const detail::named_number& n : r.numbers)
    if (n.name == name) return n.value;
  return {};
}

base::scalar_value converted(const number& given, dtype to, std::string_view name) {
  if (given.type() == to) return as_given(given);
  return with_type(to, [&]<class T>(T) {
    return with_value(given, [&](auto value) {
      if (!fits<T>(value))
        throw error(errc::invalid_argument, std::string(name) + " is " + base::to_string(as_given(given)) + ", which " +
                                                std::string(name_of(to)) + " cannot hold; pass " + what_fits<T>());
      return base::scalar_value::of(static_cast<T>(value));
    });
  });
}

problem described(const algorithm& what, const request& r, const extents& shape) {
  problem p{.what = &what, .type = r.in[0].type, .shape = shape};
  for (std::size_t i = 0; i < r.settings.size(); ++i) set(p, r.settings[i].name, r.settings[i].value, i);
  if (r.in[0].which) set(p, "axis", static_cast<unsigned>(*r.in[0].which), what.settings.size() - 1);
  if (const number init = number_of(r, "init"); init.is_given())
    set(p, "init", 1, r.settings.size()), p.number[0] = converted(init, p.type, "init");
  admit(p, preferences_of(r));
  return p;
}

problem described_lines(const algorithm& what, const request& r) {
  const argument &in = r.in[0], &out = r.out[0];
  const bool is_plain = !out.which.has_value();
  const matrix_layout to = is_plain ? matrix_layout(in.of.rows, in.of.columns) : out.of;
  const auto refuse = [&](const std::string& output) {
    throw error(errc::invalid_argument, "A is " + registry::shape_text(in.of.rows, in.of.columns) + " and the output " +
                                            output + "; there is one result for each element of A");
  };
  if (in.of.rows != to.rows || in.of.columns != to.columns) refuse(registry::shape_text(to.rows, to.columns));
  if (!is_plain && in.which != out.which)
    throw error(errc::invalid_argument,
                "A is taken along its rows and the output along its columns, or the reverse; "
                "pass the same axis for both");
  const bool has_gaps = !registry::is_packed(in.of) || !registry::is_packed(to);
  const problem p = described(
      what, r,
      has_gaps ? extents{in.of.rows, in.of.columns, in.of.stride, to.stride} : extents{in.of.rows, in.of.columns});
  if (is_plain && out.size != registry::elements_of(to)) refuse("has " + std::to_string(out.size) + " elements");
  return p;
}

}  // namespace tilewise::call
