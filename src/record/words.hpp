// SPDX-License-Identifier: Apache-2.0
// Words of a record that code acts on, each with its name in one table.
#pragma once

#include "registry/variant.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace tilewise::record {

/// What became of a case. Only `ok` and `interrupted` records carry times.
enum class status : std::uint8_t { ok, wrong, skipped, failed, timeout, interrupted };

/// What bounds a case: the device's own plain copy, its multiply-adds, those with product and sum rounded each, the
/// speed at which it reads, or the launch of a kernel. Each is also a case itself.
enum class ceiling : std::uint8_t { copy, fma, muladd, read, launch };

/// The names of an enumeration, in its order.
template <class Word>
inline constexpr std::array<std::string_view, 0> names_of{};
template <>
inline constexpr std::array<std::string_view, 6> names_of<status>{"ok",     "wrong",   "skipped",
                                                                  "failed", "timeout", "interrupted"};
template <>
inline constexpr std::array<std::string_view, 5> names_of<ceiling>{"copy", "fma", "muladd", "read", "launch"};
template <>
inline constexpr std::array<std::string_view, 2> names_of<registry::claim>{"tilewise", "own"};

template <class T>
concept word = !names_of<T>.empty();

template <word W>
constexpr std::string_view name_of(W which) {
  return names_of<W>[static_cast<std::size_t>(which)];
}

/// Whether it bounds operations; copies and reads bound bytes.
constexpr bool is_arithmetic(ceiling which) { return which == ceiling::fma || which == ceiling::muladd; }

template <word W>
constexpr std::optional<W> word_of(std::string_view name) {
  for (std::size_t i = 0; i < names_of<W>.size(); ++i)
    if (names_of<W>[i] == name) return static_cast<W>(i);
  return std::nullopt;
}

}  // namespace tilewise::record
