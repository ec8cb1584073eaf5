// SPDX-License-Identifier: Apache-2.0
// What the kernels of the radix sort have in common. Only for kernel files: everything is in the namespace of the
// level that they are compiled for.
#pragma once

#include "backend/cpu/vector.hpp"
#include "sort/code.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

template <class Bits>
[[gnu::always_inline]] inline void encode(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* codes) {
  for (std::uint64_t i = 0; i < n; ++i) codes[i] = code.encode(keys[i]);
}

/// sort_code::decode for one code and for whole vectors: gcc does not vectorize it by itself.
template <class Bits>
struct decoding {
  sort_code<Bits> code;

  [[gnu::always_inline]] Bits operator()(Bits c) const { return code.decode(c); }
  [[gnu::always_inline]] level::vector<Bits> all(level::vector<Bits> codes) const {
    using signs = level::vector<level::mask_lane<Bits>>;
    const auto flipped = (codes ^ level::broadcast(code.complement)) + level::broadcast(code.wrapped);
    const auto negative = (signs)(flipped ^ level::broadcast(code.of_positive)) < 0;
    return flipped ^ (negative ? level::broadcast(code.of_negative) : level::broadcast(code.of_positive));
  }
};

/// Values stay as they are.
template <class Value>
struct keeping {
  [[gnu::always_inline]] Value operator()(Value v) const { return v; }
  [[gnu::always_inline]] level::vector<Value> all(level::vector<Value> v) const { return v; }
};

/// Decodes n elements and writes them to `to`; with `stream`, past the caches.
template <class T, class Decode>
[[gnu::always_inline]] inline void write(const T* from, std::uint64_t n, T* to, bool stream, Decode decode) {
  constexpr unsigned lanes = level::lanes<T>;
  std::uint64_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(to + i) % level::vector_bytes != 0; ++i) to[i] = decode(from[i]);
  for (; i + lanes <= n; i += lanes)
    if (stream)
      level::stream<T>(to + i, decode.all(level::load(from + i)));
    else
      level::store<T>(to + i, decode.all(level::load(from + i)));
  for (; i < n; ++i) to[i] = decode(from[i]);
}

/// Whether an element of [begin, end) is less than its left neighbour.
template <class Bits>
[[gnu::always_inline]] inline bool has_descent(const Bits* keys, std::uint64_t begin, std::uint64_t end,
                                               sort_code<Bits> code) {
  Bits found = 0;
  for (std::uint64_t i = begin; i < end; ++i) found |= code.encode(keys[i]) < code.encode(keys[i - 1]) ? 1 : 0;
  return found != 0;
}

/// Moves element i to its place among those of [begin, i), which are sorted; returns how many it passed.
template <class Bits, class Value>
[[gnu::always_inline]] inline std::uint64_t insert_one(elements<Bits, Value> where, std::uint64_t begin,
                                                       std::uint64_t i, sort_code<Bits> code) {
  const Bits key = where.keys[i], mine = code.encode(key);
  std::uint64_t to = i;
  for (; to > begin && mine < code.encode(where.keys[to - 1]); --to) where.keys[to] = where.keys[to - 1];
  if (to == i) return 0;
  where.keys[to] = key;
  if constexpr (moves<Value>) {
    const Value value = where.values[i];
    for (std::uint64_t k = i; k > to; --k) where.values[k] = where.values[k - 1];
    where.values[to] = value;
  }
  return i - to;
}

/// Sorts [begin, end) by insertion. Gives up after more than `most_moves` moves and returns false: all elements are
/// still there, but not sorted.
template <class Bits, class Value>
[[gnu::always_inline]] inline bool insert_all(elements<Bits, Value> where, std::uint64_t begin, std::uint64_t end,
                                              sort_code<Bits> code, std::uint64_t most_moves) {
  constexpr std::uint64_t chunk = 64;
  std::uint64_t total = 0;
  for (std::uint64_t i = begin + 1; i < end; i += chunk) {
    const std::uint64_t chunk_end = end - i < chunk ? end : i + chunk;
    if (!has_descent(where.keys, i, chunk_end, code)) continue;
    for (std::uint64_t k = i; k < chunk_end; ++k) {
      total += insert_one(where, begin, k, code);
      if (total > most_moves) return false;
    }
  }
  return true;
}

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
