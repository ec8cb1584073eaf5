// SPDX-License-Identifier: Apache-2.0
#include "lab/verify/generate.hpp"

#include "base/split_mix.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tilewise::lab {

namespace {

using base::golden_gamma, base::mix;

/// A stream of random numbers: 64 bits for each index.
struct stream {
  std::uint64_t key;
  bool odd_seed;

  stream(data_class data, std::uint64_t seed)
      : key(mix(mix(seed + golden_gamma) + static_cast<std::uint64_t>(data))), odd_seed(seed % 2 != 0) {}
  std::uint64_t bits(std::uint64_t i) const { return mix(key + (i + 1) * golden_gamma); }
};

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr int width = 8 * sizeof(T);
template <class T>
inline constexpr int mantissa = std::numeric_limits<T>::digits - 1;  // stored bits of a float

/// The top bits of a random word as an integer of T's width.
template <class T>
constexpr bits_of<T> top(std::uint64_t random) {
  return static_cast<bits_of<T>>(random >> (64 - width<T>));
}

template <class T>
constexpr T with_sign(T magnitude, bool negative) {
  return negative ? -magnitude : magnitude;
}

/// 2^exponent, built from its bits.
template <class T>
T power_of_two(int exponent) {
  const auto biased = static_cast<bits_of<T>>(exponent + std::numeric_limits<T>::max_exponent - 1);
  return std::bit_cast<T>(static_cast<bits_of<T>>(biased << mantissa<T>));
}

template <class T>
T uniform(std::uint64_t random) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(top<T>(random));
  } else {
    constexpr int digits = std::numeric_limits<T>::digits;
    const auto whole = static_cast<std::int64_t>(random) >> (63 - digits);  // [-2^digits, 2^digits): exact in T
    return static_cast<T>(whole) * power_of_two<T>(-digits);
  }
}

/// 1 + d or 1 - d + d^2, which is 1/(1 + d) to within d^3, for d in [0, 2^-10). The logarithms nearly cancel, so even
/// the product of 2^32 of them is within the range of a float.
template <class T>
T near_one(std::uint64_t random) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(top<T>(random) | 1);
  const double d = static_cast<double>(random >> 11) * power_of_two<double>(-63);
  const double magnitude = (random & 1) != 0 ? 1.0 + d : 1.0 - d + d * d;
  return with_sign(static_cast<T>(magnitude), (random & 2) != 0);
}

/// The exponents telescope, so that the product of any block is as far within range as one element.
template <class T>
T wide(const stream& s, std::uint64_t i) {
  const std::uint64_t random = s.bits(i);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>((top<T>(random) | 1) >> (random % width<T>));
  } else {
    constexpr std::uint64_t span = std::numeric_limits<T>::max_exponent / 2;
    const auto height = [&](std::uint64_t at) { return static_cast<int>(mix(s.bits(at)) % span); };
    return near_one<T>(random) * power_of_two<T>(height(i + 1) - height(i));
  }
}

/// Element i and its partner i ^ 2^d are v and a value close to -v; d is the same for 1024 neighbours.
template <class T>
T cancelling(const stream& s, std::uint64_t i) {
  const std::uint64_t partner = i ^ (std::uint64_t{1} << (s.bits(~(i / 1024)) % 10));
  const std::uint64_t random = s.bits(std::min(i, partner));
  const bits_of<T> off = i < partner ? 0 : static_cast<bits_of<T>>(s.bits(i) % 8);
  if constexpr (std::is_integral_v<T>) {
    const auto value = static_cast<bits_of<T>>(top<T>(random) / 4);
    return static_cast<T>(i < partner ? value : bits_of<T>(0) - value + off);
  } else {
    const T value = power_of_two<T>(static_cast<int>(random % 24)) * (T(1) + uniform<T>(mix(random)) / 2);
    return with_sign(std::bit_cast<T>(std::bit_cast<bits_of<T>>(value) + off),
                     ((random >> 32) % 2 != 0) != (i < partner));
  }
}

template <class T>
T subnormal(std::uint64_t random) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<T>(random % 16) - T(std::is_signed_v<T> ? 8 : 0));
  const auto sign_and_fraction =
      static_cast<bits_of<T>>(top<T>(random) | 1) &
      static_cast<bits_of<T>>(~(((bits_of<T>(1) << (width<T> - 1 - mantissa<T>)) - 1) << mantissa<T>));
  return std::bit_cast<T>(static_cast<bits_of<T>>(sign_and_fraction));
}

template <class T>
T zero(const stream& s, std::uint64_t random) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(random & 1);
  return with_sign(T(0), (random % 4096 == 0) == s.odd_seed);
}

/// For integers, the extreme values.
template <class T>
T infinity(bool negative) {
  if constexpr (std::is_integral_v<T>)
    return negative ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  return with_sign(std::numeric_limits<T>::infinity(), negative);
}

template <class T>
T infinite(const stream& s, std::uint64_t random) {
  return random % 1021 != 0 ? near_one<T>(mix(random)) : infinity<T>(s.odd_seed);
}

/// Makes one in 4 to 16384 elements infinite, since faults show best with about two in a row or a part.
template <class T>
T opposed(const stream& s, std::uint64_t random) {
  if (random % (std::uint64_t{4} << s.key % 13) != 0) return near_one<T>(mix(random));
  return infinity<T>(mix(random) >> 63 != 0);
}

template <class T>
T nan(std::uint64_t random) {
  if constexpr (std::is_integral_v<T>) return uniform<T>(random);
  if (random % 509 != 0) return near_one<T>(mix(random));
  const auto infinity = std::bit_cast<bits_of<T>>(std::numeric_limits<T>::infinity());
  return std::bit_cast<T>(static_cast<bits_of<T>>(top<T>(mix(random)) | infinity | 1));
}

/// Values at equal steps between two limits, with their bits read as positions in the type's order; more than 2^25
/// different values.
template <class T>
T sorted(const stream& s, std::uint64_t i) {
  using bits = bits_of<T>;
  constexpr bits sign = bits(1) << (width<T> - 1);
  const auto position = [](T value) {  // for floats
    const auto b = std::bit_cast<bits>(value);
    return static_cast<bits>((b & sign) != 0 ? ~b : b | sign);
  };
  const bits low = std::is_floating_point_v<T> ? position(T(-2)) : bits(1) << (width<T> - 2);
  const bits high = std::is_floating_point_v<T> ? position(T(1)) : sign + low;
  const bits step = (high - low) >> 25;
  const bits far = static_cast<bits>(std::min<std::uint64_t>(i, (high - low) / step)) * step;
  const bits at = s.odd_seed ? high - far : low + far;
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(static_cast<bits>((at & sign) != 0 ? at ^ sign : ~at));
  return static_cast<T>(std::is_signed_v<T> ? at ^ sign : at);
}

template <class T, class F>
void fill(std::uint64_t first, std::uint64_t count, void* out, F element) {
  for (std::uint64_t i = 0; i < count; ++i) static_cast<T*>(out)[i] = element(first + i);
}

template <class T>
void generate_as(data_class data, const stream& s, std::uint64_t first, std::uint64_t count, void* out) {
  const auto all = [&](auto element) { fill<T>(first, count, out, element); };
  switch (data) {
    case data_class::uniform: return all([&](std::uint64_t i) { return uniform<T>(s.bits(i)); });
    case data_class::wide: return all([&](std::uint64_t i) { return wide<T>(s, i); });
    case data_class::near_one: return all([&](std::uint64_t i) { return near_one<T>(s.bits(i)); });
    case data_class::cancelling: return all([&](std::uint64_t i) { return cancelling<T>(s, i); });
    case data_class::subnormal: return all([&](std::uint64_t i) { return subnormal<T>(s.bits(i)); });
    case data_class::zeros: return all([&](std::uint64_t i) { return zero<T>(s, s.bits(i)); });
    case data_class::infinite: return all([&](std::uint64_t i) { return infinite<T>(s, s.bits(i)); });
    case data_class::nan: return all([&](std::uint64_t i) { return nan<T>(s.bits(i)); });
    case data_class::sorted: return all([&](std::uint64_t i) { return sorted<T>(s, i); });
    case data_class::equal: return all([&](std::uint64_t) { return near_one<T>(s.bits(0)); });
    case data_class::opposed: return all([&](std::uint64_t i) { return opposed<T>(s, s.bits(i)); });
  }
}

}  // namespace

std::string_view name_of(data_class data) {
  constexpr std::array<std::string_view, all_data_classes.size()> names{"uniform",   "wide",  "near_one", "cancelling",
                                                                        "subnormal", "zeros", "infinite", "nan",
                                                                        "sorted",    "equal", "opposed"};
  return names[static_cast<std::size_t>(data)];
}

void generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t first, std::uint64_t count, void* out) {
  with_type(type, [&]<class T>(T) { generate_as<T>(data, stream(data, seed), first, count, out); });
}

std::vector<std::byte> generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t count) {
  std::vector<std::byte> bytes(count * size_of(type));
  generate(data, seed, type, 0, count, bytes.data());
  return bytes;
}

}  // namespace tilewise::lab
