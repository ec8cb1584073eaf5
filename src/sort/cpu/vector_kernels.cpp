// SPDX-License-Identifier: Apache-2.0
// What:   sorts keys without values by vectors, in a cache; compiled once for each x86-64 level.
// Order:  by code (code.hpp). Networks and partitions are not stable, but equal codes are equal keys, so this does not
//         show in the output.
// Shape:  up to 16 vectors of codes are one block, which is sorted in registers (rows.hpp). More codes are parted in
//         two (partition.hpp) until they fit a block, or a few small blocks, which networks in memory merge. Levels
//         that cannot part codes merge all of them. The last merges take a vector at a time, from both ends at once:
//         each step depends on the one before it, so two chains of steps overlap.
// Limits: workspace of twice the keys' size. A block is filled up with the largest code.
// Twins:  serial.cpp. Source: K. E. Batcher, Sorting Networks and Their Applications (1968); J. Chhugani et al.,
//         Efficient Implementation of Sorting on Multi-Core SIMD CPU Architecture (2008); C. A. R. Hoare, Quicksort
//         (1962).
#include "sort/cpu/vector_kernels.hpp"

#include "sort/cpu/partition.hpp"
#include "sort/cpu/radix_steps.hpp"
#include "sort/cpu/rows.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace {

/// The type in which codes are compared. Below AVX-512 vectors can only be compared as signed numbers, so there the top
/// bit of codes is flipped.
template <class Bits>
using code_type = std::conditional_t<(level::vector_bytes < 64), std::make_signed_t<Bits>, Bits>;
template <class Bits>
constexpr Bits flipped_top = std::is_signed_v<code_type<Bits>> ? Bits{1} << (8 * sizeof(Bits) - 1) : Bits{0};
template <class Bits>
[[gnu::always_inline]] inline sort_code<Bits> kept(sort_code<Bits> code) {
  code.complement ^= flipped_top<Bits>;
  return code;
}
template <class Bits>
[[gnu::always_inline]] inline code_type<Bits>* as_codes(Bits* memory) {
  return reinterpret_cast<code_type<Bits>*>(memory);
}

template <class Code>
using bits_of = std::make_unsigned_t<Code>;
template <class Code>
constexpr Code largest_code = static_cast<Code>(~bits_of<Code>{0} >> (std::is_signed_v<Code> ? 1 : 0));

/// As many rows as fit the registers, besides those that a network needs.
constexpr int block_rows = level::vector_bytes < 64 ? 8 : 16;

/// Shorter vectors for few codes: `few_bytes` for codes that fill at most half of a block of full vectors,
/// `fewest_bytes` for codes that fill at most half of a block of those.
constexpr unsigned few_bytes = level::vector_bytes < 32 ? level::vector_bytes : 32;
template <class Code>
constexpr unsigned fewest_bytes = level::vector_bytes < 32 ? level::vector_bytes : 4 * sizeof(Code);

template <class Code>
using full_rows = rows<Code, level::vector_bytes>;
template <class Code>
using few_rows = rows<Code, few_bytes>;
template <class Code>
using fewest_rows = rows<Code, fewest_bytes<Code>>;

template <class Code>
constexpr std::uint64_t block = full_rows<Code>::lanes* block_rows;

/// Up to so many codes, networks merge blocks. With 8 rows and few lanes, blocks are so small that this is faster than
/// parting.
template <class Code>
constexpr std::uint64_t most_by_networks = level::vector_bytes < 64 ? 8 * block<Code> : block<Code>;

template <class Rows, int Count, class Code>
[[gnu::always_inline]] inline void sort_block(Code* codes) {
  typename Rows::row r[Count];
  for (int i = 0; i < Count; ++i) r[i] = Rows::load(codes + i * Rows::lanes);
  Rows::template sort_block<Count>(r);
  for (int i = 0; i < Count; ++i) Rows::store(codes + i * Rows::lanes, r[i]);
}

/// Writes the keys of sorted codes.
template <class Code>
[[gnu::always_inline]] inline void write_keys(const Code* codes, std::uint64_t n, sort_code<bits_of<Code>> code,
                                              bits_of<Code>* out) {
  write(reinterpret_cast<const bits_of<Code>*>(codes), n, out, false, decoding<bits_of<Code>>{code});
}

template <class Rows, int Count, class Code>
void sort_filled(const Code* codes, std::uint64_t n, sort_code<bits_of<Code>> code, bits_of<Code>* out) {
  constexpr std::uint64_t all = Rows::lanes * Count;
  alignas(level::vector_bytes) Code filled[all];
  __builtin_memcpy(filled, codes, n * sizeof(Code));
  for (std::uint64_t i = n; i < all; ++i) filled[i] = largest_code<Code>;
  sort_block<Rows, Count>(filled);
  write_keys(filled, n, code, out);
}

/// Sorts at most a block.
template <class Code>
void sort_few(const Code* codes, std::uint64_t n, sort_code<bits_of<Code>> code, bits_of<Code>* out) {
  using few = few_rows<Code>;
  using fewest = fewest_rows<Code>;
  if (n <= fewest::lanes * fewest::lanes)
    sort_filled<fewest, fewest::lanes>(codes, n, code, out);
  else if (n <= fewest::lanes * 8)
    sort_filled<fewest, 8>(codes, n, code, out);
  else if (n <= few::lanes * few::lanes)
    sort_filled<few, few::lanes>(codes, n, code, out);
  else if (n <= few::lanes * block_rows)
    sort_filled<few, block_rows>(codes, n, code, out);
  else
    sort_filled<full_rows<Code>, block_rows>(codes, n, code, out);
}

/// A run of codes, in whole rows.
template <class Code>
struct row_run {
  const Code *begin, *end;
};

/// Chooses `a` or `b` without a branch, which would be unpredictable.
template <class Code>
[[gnu::always_inline]] inline const Code* one_of(bool is_a, const Code* a, const Code* b) {
  return b + ((a - b) & -static_cast<std::ptrdiff_t>(is_a));
}

/// The next row upwards or downwards of two runs: the one whose nearest code comes first in that direction.
template <class Rows, class Code>
[[gnu::always_inline]] inline typename Rows::row take_lower(row_run<Code>& a, row_run<Code>& b) {
  const bool has_a = a.begin != a.end, has_b = b.begin != b.end;
  const bool is_a = (!has_b) | (has_a & (*a.begin <= b.begin[has_b - 1]));
  const Code* const from = one_of(is_a, a.begin, b.begin);
  a.begin += is_a * Rows::lanes;
  b.begin += !is_a * Rows::lanes;
  return Rows::load(from);
}
template <class Rows, class Code>
[[gnu::always_inline]] inline typename Rows::row take_upper(row_run<Code>& a, row_run<Code>& b) {
  const bool has_a = a.begin != a.end, has_b = b.begin != b.end;
  const bool is_a = (!has_b) | (has_a & (a.end[-has_a] > b.end[-1]));
  a.end -= is_a * Rows::lanes;
  b.end -= !is_a * Rows::lanes;
  return Rows::load(one_of(is_a, a.end, b.end));
}

/// Merges two runs with an even number of rows in all, from both ends of the output. Each end may take more than half
/// of one run.
template <class Rows, class Code>
void merge_rows(row_run<Code> a, row_run<Code> b, Code* out) {
  const std::uint64_t n = static_cast<std::uint64_t>((a.end - a.begin) + (b.end - b.begin));
  if (a.end[-1] <= *b.begin) {  // a lies before b in memory
    __builtin_memcpy(out, a.begin, n * sizeof(Code));
    return;
  }
  row_run<Code> upper_a = a, upper_b = b;
  Code* upper_out = out + n;
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

/// Merges runs of `length`, the last of which may be shorter.
template <class Rows, class Code>
void merge_pairs(const Code* from, std::uint64_t n, std::uint64_t length, Code* to) {
  for (std::uint64_t begin = 0; begin < n; begin += 2 * length) {
    const std::uint64_t middle = begin + length < n ? begin + length : n;
    const std::uint64_t end = middle + length < n ? middle + length : n;
    if (middle == end)
      __builtin_memcpy(to + begin, from + begin, (end - begin) * sizeof(Code));
    else
      merge_rows<Rows, Code>({from + begin, from + middle}, {from + middle, from + end}, to + begin);
  }
}

/// Sorts at most `most_by_networks` codes. There must be room for whole blocks, rounded up to a power of two.
template <class Code>
void sort_by_networks(Code* room, std::uint64_t n) {
  using full = full_rows<Code>;
  std::uint64_t filled = block<Code>;
  while (filled < n) filled *= 2;
  for (std::uint64_t i = n; i < filled; ++i) room[i] = largest_code<Code>;
  for (std::uint64_t begin = 0; begin < n; begin += block<Code>) sort_block<full, block_rows>(room + begin);
  for (std::uint64_t length = block<Code>; length < n; length *= 2)
    for (std::uint64_t begin = 0; begin + length < n; begin += 2 * length)
      full::template merge_stored<block_rows>(room + begin, static_cast<int>(length / full::lanes));
}

/// Sorts at most `most_by_networks` codes.
template <class Code>
void sort_small(const Code* codes, std::uint64_t n, sort_code<bits_of<Code>> code, bits_of<Code>* out) {
  if (n <= block<Code>) return sort_few(codes, n, code, out);
  alignas(level::vector_bytes) Code room[most_by_networks<Code>];
  __builtin_memcpy(room, codes, n * sizeof(Code));
  sort_by_networks(room, n);
  write_keys(room, n, code, out);
}

/// Sorts more codes by merging. `room` has space for twice as many whole blocks. Until it is merged, the last part may
/// use the spare half.
template <class Code>
void sort_by_merging(Code* room, std::uint64_t n, sort_code<bits_of<Code>> code, bits_of<Code>* out) {
  constexpr std::uint64_t part = most_by_networks<Code>;
  for (std::uint64_t begin = 0; begin < n; begin += part)
    sort_by_networks(room + begin, begin + part < n ? part : n - begin);
  const std::uint64_t filled = (n + block<Code> - 1) / block<Code> * block<Code>;
  Code *from = room, *to = room + filled;
  for (std::uint64_t length = part; length < filled; length *= 2) {
    merge_pairs<full_rows<Code>>(from, filled, length, to);
    Code* const merged = to;
    to = from;
    from = merged;
  }
  write_keys(from, n, code, out);
}

template <class Code>
[[gnu::always_inline]] inline Code median(Code a, Code b, Code c) {
  const Code low = a < b ? a : b, high = a < b ? b : a, below = high < c ? high : c;
  return low > below ? low : below;
}

/// An approximate median of 3^Depth codes at equal distances: the median of three medians of three, and so on.
template <int Depth, class Code>
[[gnu::always_inline]] inline Code sampled_median(const Code* codes, std::uint64_t n) {
  if constexpr (Depth == 0) {
    return codes[n / 2];
  } else {
    const std::uint64_t third = n / 3;
    return median(sampled_median<Depth - 1>(codes, third), sampled_median<Depth - 1>(codes + third, third),
                  sampled_median<Depth - 1>(codes + 2 * third, third));
  }
}

/// The middle between the least and the largest code: a pivot that always parts codes, unless all are equal.
template <class Code>
Code middle_value(const Code* codes, std::uint64_t n) {
  Code least = codes[0], largest = codes[0];
  for (std::uint64_t i = 1; i < n; ++i) {
    least = codes[i] < least ? codes[i] : least;
    largest = codes[i] > largest ? codes[i] : largest;
  }
  const auto bits = [](Code c) { return static_cast<bits_of<Code>>(c); };
  const bits_of<Code> between = bits(largest) - bits(least);  // correct for signed codes, too
  return static_cast<Code>(bits(least) + between / 2 + (between != 0 ? 1 : 0));
}

template <class Code>
Code pivot_of(const Code* codes, std::uint64_t n, bool by_sample) {
  constexpr std::uint64_t many = 4096;
  if (!by_sample) return middle_value(codes, n);
  return n < many ? sampled_median<2>(codes, n) : sampled_median<3>(codes, n);
}

/// Parts codes until parts are short enough for networks. If a sampled pivot parts badly, the next pivot is the middle
/// of the values. This halves the range of values, so it happens at most 32 or 64 times.
template <class Code>
void sort_by_parting(Code* codes, Code* room, std::uint64_t n, sort_code<bits_of<Code>> code, bits_of<Code>* out,
                     bool by_sample = true) {
  while (n > most_by_networks<Code>) {
    const Code pivot = pivot_of(codes, n, by_sample);
    auto parts = partition<parted_by::less>(codes, n, pivot, room);
    by_sample = !by_sample || (parts.count >= n / 16 && n - parts.count >= n / 16);
    if (parts.count != 0) {
      sort_by_parting(parts.before, parts.before_room, parts.count, code, out, by_sample);
    } else {
      parts = partition<parted_by::less_or_equal>(parts.rest, n, pivot, parts.rest_room);
      for (std::uint64_t i = 0; i < parts.count; ++i) out[i] = code.decode(static_cast<bits_of<Code>>(pivot));
    }
    codes = parts.rest;
    room = parts.rest_room;
    out += parts.count;
    n -= parts.count;
  }
  sort_small(codes, n, code, out);
}

/// Returns the end of each part.
template <class Bits>
Bits* part_codes(code_type<Bits>* codes, code_type<Bits>* room, std::uint64_t n, const Bits* splitters,
                 std::uint64_t parts, Bits* out, std::uint64_t* sizes) {
  if (parts == 1) {
    *sizes = n;
    __builtin_memcpy(out, codes, n * sizeof(Bits));
    return out + n;
  }
  const std::uint64_t half = parts / 2;
  const auto pivot = static_cast<code_type<Bits>>(splitters[half - 1] ^ flipped_top<Bits>);
  const auto both = partition<parted_by::less>(codes, n, pivot, room);
  out = part_codes(both.before, both.before_room, both.count, splitters, half, out, sizes);
  return part_codes(both.rest, both.rest_room, n - both.count, splitters + half, parts - half, out, sizes + half);
}

template <class Bits>
void part(const part_task<Bits>& task) {
  encode(task.keys, task.n, kept(task.code), task.room);
  part_codes(as_codes(task.room), as_codes(task.room + task.n), task.n, task.splitters, task.parts, task.out,
             task.sizes);
}

template <class Bits>
void sort_parted(Bits* codes, Bits* room, std::uint64_t n, sort_code<Bits> code, Bits* out) {
  sort_by_parting(as_codes(codes), as_codes(room), n, kept(code), out);
}

template <class Bits>
void sort(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* out, Bits* room) {
  encode(keys, n, kept(code), room);
  if constexpr (can_partition)
    sort_by_parting(as_codes(room), as_codes(room + n), n, kept(code), out);
  else if (n <= most_by_networks<code_type<Bits>>)
    sort_small(as_codes(room), n, kept(code), out);
  else
    sort_by_merging(as_codes(room), n, kept(code), out);
}

/// Whether is_wrong holds for no pair of neighbours. Checks the result only after every `some` pairs.
template <class Bits, class Wrong>
bool has_none(const Bits* keys, std::uint64_t n, sort_code<Bits> code, const Wrong& is_wrong) {
  constexpr std::uint64_t some = 256;
  for (std::uint64_t i = 0; i + 1 < n;) {
    const std::uint64_t end = n - 1 - i < some ? n - 1 : i + some;
    Bits found = 0;
    for (; i < end; ++i) found |= is_wrong(code.encode(keys[i]), code.encode(keys[i + 1])) ? 1 : 0;
    if (found != 0) return false;
  }
  return true;
}

template <class Bits>
bool succeeds(const Bits* keys, std::uint64_t n, sort_code<Bits> code, succession what) {
  switch (what) {
    case succession::ascending: return has_none(keys, n, code, [](Bits a, Bits b) { return a > b; });
    case succession::descending: return has_none(keys, n, code, [](Bits a, Bits b) { return a < b; });
    default: return has_none(keys, n, code, [](Bits a, Bits b) { return a <= b; });
  }
}

}  // namespace

template <class Bits>
const vector_kernels<Bits>& by_vectors() {
  if constexpr (can_partition) {
    static constexpr vector_kernels<Bits> table{succeeds<Bits>, sort<Bits>, sort_parted<Bits>, part<Bits>};
    return table;
  } else {
    static constexpr vector_kernels<Bits> table{succeeds<Bits>, sort<Bits>, nullptr, nullptr};
    return table;
  }
}

template const vector_kernels<std::uint32_t>& by_vectors<std::uint32_t>();
template const vector_kernels<std::uint64_t>& by_vectors<std::uint64_t>();

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
