// SPDX-License-Identifier: Apache-2.0
// What:   merge sort of keys without values by vectors, in a cache; compiled once for each x86-64 level.
// Order:  by code (sort_code.hpp). Equal codes are equal keys, so nothing tells that networks are not stable.
// Shape:  blocks of as many vectors as lanes are sorted in registers (sort_cpu_rows.hpp); then runs are merged a vector
// at
//         a time, from both ends at once, since each step waits for the one before it.
// Limits: works in a room of twice the keys' size, where keys are filled up to whole blocks with the largest code.
// Twins:  sort_serial.cpp. Source: K. E. Batcher, Sorting Networks and Their Applications (1968); J. Chhugani et al.,
//         Efficient Implementation of Sorting on Multi-Core SIMD CPU Architecture (2008).
#include "sort/sort_cpu_vector_kernels.hpp"

#include "sort/sort_cpu_radix_steps.hpp"
#include "sort/sort_cpu_rows.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace {

/// Of the vectors of keys that would fill no more than half of a block of the longest.
constexpr unsigned few_bytes = level::vector_bytes < 32 ? level::vector_bytes : 32;

/// Whole rows of codes.
template <class Bits>
struct row_run {
  const Bits *begin, *end;
};

/// The next row upwards or downwards of two runs: the one whose nearest code comes first in that direction.
template <class Rows, class Bits>
[[gnu::always_inline]] inline typename Rows::row take_lower(row_run<Bits>& a, row_run<Bits>& b) {
  const bool is_a = b.begin == b.end || (a.begin != a.end && *a.begin <= *b.begin);
  const Bits* const from = is_a ? a.begin : b.begin;
  a.begin += is_a ? Rows::lanes : 0;
  b.begin += is_a ? 0 : Rows::lanes;
  return Rows::load(from);
}
template <class Rows, class Bits>
[[gnu::always_inline]] inline typename Rows::row take_upper(row_run<Bits>& a, row_run<Bits>& b) {
  const bool is_a = b.begin == b.end || (a.begin != a.end && a.end[-1] > b.end[-1]);
  a.end -= is_a ? Rows::lanes : 0;
  b.end -= is_a ? 0 : Rows::lanes;
  return Rows::load(is_a ? a.end : b.end);
}

/// An even number of rows. Each end of the output takes what it needs of both runs for itself, which may be more than
/// half of one of them.
template <class Rows, class Bits>
void merge_rows(row_run<Bits> a, row_run<Bits> b, Bits* out) {
  const std::uint64_t n = static_cast<std::uint64_t>((a.end - a.begin) + (b.end - b.begin));
  if (a.end[-1] <= *b.begin) {  // a lies before b in memory
    __builtin_memcpy(out, a.begin, n * sizeof(Bits));
    return;
  }
  row_run<Bits> upper_a = a, upper_b = b;
  Bits* upper_out = out + n;
  auto low = take_lower<Rows>(a, b), high = take_upper<Rows>(upper_a, upper_b);
  for (std::uint64_t i = 0; i < n / (2 * Rows::lanes); ++i) {
    auto next = take_lower<Rows>(a, b), last = take_upper<Rows>(upper_a, upper_b);
    Rows::merge(low, next);
    Rows::store(out, low);
    out += Rows::lanes;
    low = next;
    Rows::merge(last, high);
    upper_out -= Rows::lanes;
    Rows::store(upper_out, high);
    high = last;
  }
}

template <class Rows, class Bits>
[[gnu::always_inline]] inline void sort_block(Bits* codes) {
  typename Rows::row r[Rows::lanes];
  for (int i = 0; i < Rows::lanes; ++i) r[i] = Rows::load(codes + i * Rows::lanes);
  Rows::sort_columns(r);
  for (int i = 0; i < Rows::lanes; ++i) Rows::store(codes + i * Rows::lanes, r[i]);
}

/// Merges runs of `length`, the last of which may be shorter.
template <class Rows, class Bits>
void merge_pairs(const Bits* from, std::uint64_t n, std::uint64_t length, Bits* to) {
  for (std::uint64_t begin = 0; begin < n; begin += 2 * length) {
    const std::uint64_t middle = begin + length < n ? begin + length : n;
    const std::uint64_t end = middle + length < n ? middle + length : n;
    if (middle == end)
      __builtin_memcpy(to + begin, from + begin, (end - begin) * sizeof(Bits));
    else
      merge_rows<Rows, Bits>({from + begin, from + middle}, {from + middle, from + end}, to + begin);
  }
}

template <class Rows, class Bits>
const Bits* sort_by_rows(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* room) {
  constexpr std::uint64_t block = Rows::lanes * Rows::lanes;
  const std::uint64_t filled = (n + block - 1) / block * block;
  encode(keys, n, code, room);
  for (std::uint64_t i = n; i < filled; ++i) room[i] = ~Bits(0);
  for (std::uint64_t begin = 0; begin < filled; begin += block) sort_block<Rows>(room + begin);
  Bits *from = room, *to = room + filled;
  for (std::uint64_t length = Rows::lanes; length < filled; length *= 2) {
    merge_pairs<Rows>(from, filled, length, to);
    Bits* const merged = to;
    to = from;
    from = merged;
  }
  return from;
}

template <class Bits>
void sort(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* out, Bits* room) {
  using full = rows<Bits, level::vector_bytes>;
  constexpr std::uint64_t few = full::lanes * full::lanes / 2;
  const Bits* const codes =
      n <= few ? sort_by_rows<rows<Bits, few_bytes>>(keys, n, code, room) : sort_by_rows<full>(keys, n, code, room);
  write(codes, n, out, false, decoding<Bits>{code});
}

}  // namespace

template <class Bits>
const vector_kernels<Bits>& by_vectors() {
  static constexpr vector_kernels<Bits> table{sort<Bits>};
  return table;
}

template const vector_kernels<std::uint32_t>& by_vectors<std::uint32_t>();
template const vector_kernels<std::uint64_t>& by_vectors<std::uint64_t>();

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
