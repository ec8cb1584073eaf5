// SPDX-License-Identifier: Apache-2.0
// What:   sorts a bucket of codes in a worker's cache and writes its keys; compiled once for each x86-64 level.
// Order:  by code (code.hpp); passes by digits and the insertion are stable.
// Shape:  passes between the bucket and a workspace of its size, by as many leading digits as should tell nearly all
//         codes apart, the least significant first. Swaps and insertions settle ties. Then all keys are decoded and
//         written in one sweep.
// Limits: fewer than 2^32 elements; the output is neither the bucket nor the spare one.
// Twins:  serial.cpp.
#include "sort/cpu/bucket_kernels.hpp"

#include "sort/cpu/radix_kernels.hpp"
#include "sort/cpu/radix_steps.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace {

/// Bits of a digit. A pass can write to 2^8 places in turn without leaving the first-level cache.
constexpr unsigned bucket_digit = 8;

/// Up to so many codes an insertion sort alone is faster than any pass.
constexpr std::uint64_t few_codes = 24;

/// Whether values move in vectors as keys do.
template <class Bits, class Value>
inline constexpr bool moves_alike = !moves<Value> || sizeof(Value) == sizeof(Bits);

/// n codes are sorted by about log2(n) bits, plus these. Without extra bits up to one other code on average shares all
/// sorted bits with a code; most ties are then two neighbours, which swaps settle. Without swaps, three more bits leave
/// an eighth of a code on average, and insertions settle these ties faster than a pass would.
template <class Bits, class Value>
inline constexpr unsigned bits_beyond = moves_alike<Bits, Value> ? 0 : 3;

/// Each round moves a code past one more neighbour. With fewer rounds more insertions remain, which take longer than
/// another round.
constexpr unsigned rounds_of_swaps = 2;

/// Moves that the insertion sort may make per element: many more than expected, but still cheaper than passes.
constexpr std::uint64_t moves_each = 2;

constexpr unsigned bit_width(std::uint64_t x) { return x == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(x)); }

/// Digits of a code, the leading one first. Together they cover the most significant of the bits that vary.
template <class Bits>
struct digit_list {
  digit<Bits> by[8 * sizeof(Bits)];
  unsigned count = 0;

  /// Covers at least `enough` of the bits that vary, or all if there are fewer.
  digit_list(Bits varying, unsigned enough) {
    const auto popcount = [](std::uint64_t x) { return static_cast<unsigned>(__builtin_popcountll(x)); };
    const unsigned all = popcount(varying), wanted = all < enough ? all : enough;
    const unsigned passes = (wanted + bucket_digit - 1) / bucket_digit;
    const unsigned width = passes == 0 ? 0 : (wanted + passes - 1) / passes;
    for (Bits left = varying; left != 0 && all - popcount(left) < wanted; ++count) {
      const unsigned end = bit_width(left), lowest = static_cast<unsigned>(__builtin_ctzll(left));
      const unsigned begin = end < lowest + width ? lowest : end - width;
      by[count] = {begin, end - begin};
      left &= (Bits(1) << begin) - 1;
    }
  }
};

/// Where the codes of a bucket are, and where they may go.
template <class Bits, class Value>
struct bucket_places {
  elements<Bits, Value> at, spare;
  std::uint64_t n;
};

template <class Bits, class Value>
[[gnu::always_inline]] inline void sort_by_digit(bucket_places<Bits, Value>& b, digit<Bits> by) {
  std::uint32_t next[1 << bucket_digit];
  __builtin_memset(next, 0, sizeof(std::uint32_t) << by.width);
  const Bits* const from = b.at.keys;
#pragma GCC unroll 4
  for (std::uint64_t i = 0; i < b.n; ++i) ++next[by.of(from[i])];
  if (next[by.of(from[0])] == b.n) return;
  std::uint32_t before = 0;
  for (unsigned d = 0; d < by.values(); ++d) {
    const std::uint32_t count = next[d];
    next[d] = before;
    before += count;
  }
#pragma GCC unroll 4
  for (std::uint64_t i = 0; i < b.n; ++i) {
    const Bits code = from[i];
    const std::uint32_t place = next[by.of(code)]++;
    b.spare.keys[place] = code;
    if constexpr (moves<Value>) b.spare.values[place] = b.at.values[i];
  }
  const elements<Bits, Value> sorted = b.spare;
  b.spare = b.at;
  b.at = sorted;
}

template <class Bits, class Value>
void sort_by_digits(bucket_places<Bits, Value>& b, const digit_list<Bits>& digits) {
  for (unsigned left = digits.count; left-- != 0;) sort_by_digit(b, digits.by[left]);
}

/// Swaps an element and the next one if they are out of order.
template <class Bits, class Value>
[[gnu::always_inline]] inline void swap_pair(elements<Bits, Value> where, std::uint64_t i) {
  const Bits left = where.keys[i], right = where.keys[i + 1];
  if (left <= right) return;
  where.keys[i] = right;
  where.keys[i + 1] = left;
  if constexpr (moves<Value>) {
    const Value value = where.values[i];
    where.values[i] = where.values[i + 1];
    where.values[i + 1] = value;
  }
}

/// The same for all pairs that begin at `first`, first + 2 and so on.
template <class Bits, class Value>
[[gnu::always_inline]] inline void swap_pairs(elements<Bits, Value> where, std::uint64_t first, std::uint64_t n) {
  constexpr unsigned lanes = level::lanes<Bits>;
  using mask = level::vector<level::mask_lane<Bits>>;
  std::uint64_t i = first;
  for (; i + lanes <= n; i += lanes) {
    const auto keys = level::load(where.keys + i), others = level::swap<1, Bits>(keys);
    const mask swaps = level::blend<1, level::mask_lane<Bits>>((mask)(others < keys), (mask)(keys < others));
    level::store<Bits>(where.keys + i, swaps != 0 ? others : keys);
    if constexpr (moves<Value>) {
      const auto values = level::load(where.values + i);
      level::store<Value>(where.values + i, swaps != 0 ? level::swap<1, Value>(values) : values);
    }
  }
  for (; i + 2 <= n; i += 2) swap_pair(where, i);
}

/// Rounds of an odd-even transposition sort.
template <class Bits, class Value>
[[gnu::always_inline]] inline void swap_neighbours(elements<Bits, Value> where, std::uint64_t n) {
  if constexpr (moves_alike<Bits, Value>)
    for (unsigned round = 0; round < rounds_of_swaps; ++round)
      for (std::uint64_t first : {0u, 1u}) swap_pairs(where, first, n);
}

/// Returns false under the same condition as bucket_kernels::sort.
template <class Bits, class Value>
[[gnu::always_inline]] inline bool sort_codes(bucket_places<Bits, Value>& b, Bits varying, unsigned more_bits) {
  constexpr sort_code<Bits> none{};
  if (b.n <= few_codes) return insert_all(b.at, 0, b.n, none, ~std::uint64_t{0});
  sort_by_digits(b, digit_list<Bits>(varying, bit_width(b.n) + bits_beyond<Bits, Value> + more_bits));
  swap_neighbours(b.at, b.n);
  if (insert_all(b.at, 0, b.n, none, moves_each * b.n)) return true;
  sort_by_digits(b, digit_list<Bits>(varying, 8 * sizeof(Bits)));  // all steps so far were stable
  return false;
}

template <class Bits, class Value>
bool sort_bucket(const bucket_task<Bits, Value>& task) {
  bucket_places<Bits, Value> b{task.codes, task.spare, task.n};
  const bool told_apart = task.varying == 0 || sort_codes(b, task.varying, task.more_bits);
  write(b.at.keys, b.n, task.out.keys, task.stream, decoding<Bits>{task.after});
  if constexpr (moves<Value>) write(b.at.values, b.n, task.out.values, task.stream, keeping<Value>{});
  if (task.stream) _mm_sfence();
  return told_apart;
}

}  // namespace

template <class Bits, class Value>
const bucket_kernels<Bits, Value>& of_buckets() {
  static constexpr bucket_kernels<Bits, Value> table{sort_bucket<Bits, Value>};
  return table;
}

#define TILEWISE_INSTANTIATE(Bits)                                                       \
  template const bucket_kernels<Bits, nothing>& of_buckets<Bits, nothing>();             \
  template const bucket_kernels<Bits, std::uint32_t>& of_buckets<Bits, std::uint32_t>(); \
  template const bucket_kernels<Bits, std::uint64_t>& of_buckets<Bits, std::uint64_t>();
TILEWISE_INSTANTIATE(std::uint32_t)
TILEWISE_INSTANTIATE(std::uint64_t)

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
