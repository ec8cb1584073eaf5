// SPDX-License-Identifier: Apache-2.0
// What:   sorts keys without values by vectors, in a cache; compiled once for each x86-64 level.
// Order:  by code (sort_code.hpp). Equal codes are equal keys, so nothing tells that neither networks nor partitions
// are
//         stable.
// Shape:  up to 16 vectors of codes are one block, sorted in registers (sort_cpu_rows.hpp). More codes are parted in
// two
//         until they are so few (sort_cpu_partition.hpp), or a few blocks where these are small. Blocks are merged a
//         vector at a time, from both ends at once, since each step waits for the one before it; at levels that cannot
//         part all are.
// Limits: works in a room of twice the keys' size. A block is filled up with the largest code.
// Twins:  sort_serial.cpp. Source: K. E. Batcher, Sorting Networks and Their Applications (1968); J. Chhugani et al.,
//         Efficient Implementation of Sorting on Multi-Core SIMD CPU Architecture (2008); C. A. R. Hoare, Quicksort
//         (1962).
#include "sort/sort_cpu_vector_kernels.hpp"

#include "sort/sort_cpu_partition.hpp"
#include "sort/sort_cpu_radix_steps.hpp"
#include "sort/sort_cpu_rows.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace {

/// As many as fit into the registers beside what a network needs.
constexpr int block_rows = level::vector_bytes < 64 ? 8 : 16;

/// Of the vectors of codes that would fill no more than half of a block of the longest; and of those that would fill no
/// more than half of a block of these.
constexpr unsigned few_bytes = level::vector_bytes < 32 ? level::vector_bytes : 32;
template <class Bits>
constexpr unsigned fewest_bytes = level::vector_bytes < 32 ? level::vector_bytes : 4 * sizeof(Bits);

template <class Bits>
using full_rows = rows<Bits, level::vector_bytes>;
template <class Bits>
using few_rows = rows<Bits, few_bytes>;
template <class Bits>
using fewest_rows = rows<Bits, fewest_bytes<Bits>>;

template <class Bits>
constexpr std::uint64_t block = full_rows<Bits>::lanes* block_rows;

template <class Rows, int Count, class Bits>
[[gnu::always_inline]] inline void sort_block(Bits* codes) {
  typename Rows::row r[Count];
  for (int i = 0; i < Count; ++i) r[i] = Rows::load(codes + i * Rows::lanes);
  Rows::template sort_block<Count>(r);
  for (int i = 0; i < Count; ++i) Rows::store(codes + i * Rows::lanes, r[i]);
}

template <class Rows, int Count, class Bits>
void sort_filled(const Bits* codes, std::uint64_t n, sort_code<Bits> code, Bits* out) {
  constexpr std::uint64_t all = Rows::lanes * Count;
  alignas(level::vector_bytes) Bits filled[all];
  __builtin_memcpy(filled, codes, n * sizeof(Bits));
  for (std::uint64_t i = n; i < all; ++i) filled[i] = ~Bits(0);
  sort_block<Rows, Count>(filled);
  write(filled, n, out, false, decoding<Bits>{code});
}

/// At most a block.
template <class Bits>
void sort_few(const Bits* codes, std::uint64_t n, sort_code<Bits> code, Bits* out) {
  using few = few_rows<Bits>;
  using fewest = fewest_rows<Bits>;
  if (n <= fewest::lanes * fewest::lanes)
    sort_filled<fewest, fewest::lanes>(codes, n, code, out);
  else if (n <= fewest::lanes * 8)
    sort_filled<fewest, 8>(codes, n, code, out);
  else if (n <= few::lanes * few::lanes)
    sort_filled<few, few::lanes>(codes, n, code, out);
  else if (n <= few::lanes * block_rows)
    sort_filled<few, block_rows>(codes, n, code, out);
  else
    sort_filled<full_rows<Bits>, block_rows>(codes, n, code, out);
}

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

/// Of codes in a room for twice as many whole blocks.
template <class Bits>
void sort_by_merging(Bits* room, std::uint64_t n, sort_code<Bits> code, Bits* out) {
  using full = full_rows<Bits>;
  const std::uint64_t filled = (n + block<Bits> - 1) / block<Bits> * block<Bits>;
  for (std::uint64_t i = n; i < filled; ++i) room[i] = ~Bits(0);
  for (std::uint64_t begin = 0; begin < filled; begin += block<Bits>) sort_block<full, block_rows>(room + begin);
  Bits *from = room, *to = room + filled;
  for (std::uint64_t length = block<Bits>; length < filled; length *= 2) {
    merge_pairs<full>(from, filled, length, to);
    Bits* const merged = to;
    to = from;
    from = merged;
  }
  write(from, n, out, false, decoding<Bits>{code});
}

template <class Bits>
[[gnu::always_inline]] inline Bits median(Bits a, Bits b, Bits c) {
  const Bits low = a < b ? a : b, high = a < b ? b : a, below = high < c ? high : c;
  return low > below ? low : below;
}

/// Of 3^Depth codes at equal distances: the median of three, of which each is one of three, and so on.
template <int Depth, class Bits>
[[gnu::always_inline]] inline Bits sampled_median(const Bits* codes, std::uint64_t n) {
  if constexpr (Depth == 0) {
    return codes[n / 2];
  } else {
    const std::uint64_t third = n / 3;
    return median(sampled_median<Depth - 1>(codes, third), sampled_median<Depth - 1>(codes + third, third),
                  sampled_median<Depth - 1>(codes + 2 * third, third));
  }
}

/// Between the least and the largest code: not below some codes, unless all are equal, and above others.
template <class Bits>
Bits middle_value(const Bits* codes, std::uint64_t n) {
  Bits least = codes[0], largest = codes[0];
  for (std::uint64_t i = 1; i < n; ++i) {
    least = codes[i] < least ? codes[i] : least;
    largest = codes[i] > largest ? codes[i] : largest;
  }
  return least + (largest - least) / 2 + (least != largest ? 1 : 0);
}

template <class Bits>
Bits pivot_of(const Bits* codes, std::uint64_t n, bool by_sample) {
  constexpr std::uint64_t many = 4096;
  if (!by_sample) return middle_value(codes, n);
  return n < many ? sampled_median<2>(codes, n) : sampled_median<3>(codes, n);
}

/// With 8 rows and few lanes a block is so small that two levels of merges take less time than the pivots.
template <class Bits>
constexpr std::uint64_t most_merged = level::vector_bytes < 64 ? 4 * block<Bits> : block<Bits>;

/// Each part stays where it is until it is a block. Where a sample deceived, the middle of the values is the next
/// pivot: there are 2^32 or 2^64, so it is no more than so often.
template <class Bits>
void sort_by_parting(Bits* codes, Bits* spare, std::uint64_t n, sort_code<Bits> code, Bits* out,
                     bool by_sample = true) {
  while (n > most_merged<Bits>) {
    const Bits pivot = pivot_of(codes, n, by_sample);
    std::uint64_t before = partition<parted_by::less>(codes, n, pivot, spare);
    by_sample = !by_sample || (before >= n / 16 && n - before >= n / 16);
    if (before != 0) {
      sort_by_parting(spare, codes + (n - before), before, code, out, by_sample);
    } else {
      before = partition<parted_by::less_or_equal>(codes, n, pivot, spare);
      for (std::uint64_t i = 0; i < before; ++i) out[i] = code.decode(pivot);
    }
    spare += before;
    out += before;
    n -= before;
  }
  if (n <= block<Bits>) return sort_few(codes, n, code, out);
  alignas(level::vector_bytes) Bits room[2 * most_merged<Bits>];
  __builtin_memcpy(room, codes, n * sizeof(Bits));
  sort_by_merging(room, n, code, out);
}

/// Returns where the parts end.
template <class Bits>
Bits* part_codes(Bits* codes, Bits* spare, std::uint64_t n, const Bits* splitters, std::uint64_t parts, Bits* out,
                 std::uint64_t* sizes) {
  if (parts == 1) {
    *sizes = n;
    __builtin_memcpy(out, codes, n * sizeof(Bits));
    return out + n;
  }
  const std::uint64_t half = parts / 2;
  const std::uint64_t before = partition<parted_by::less>(codes, n, splitters[half - 1], spare);
  out = part_codes(spare, codes + (n - before), before, splitters, half, out, sizes);
  return part_codes(codes, spare + before, n - before, splitters + half, parts - half, out, sizes + half);
}

template <class Bits>
void part(const part_task<Bits>& task) {
  encode(task.keys, task.n, task.code, task.room);
  part_codes(task.room, task.room + task.n, task.n, task.splitters, task.parts, task.out, task.sizes);
}

template <class Bits>
void sort_codes(Bits* codes, Bits* spare, std::uint64_t n, sort_code<Bits> code, Bits* out) {
  sort_by_parting(codes, spare, n, code, out);
}

template <class Bits>
void sort(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* out, Bits* room) {
  encode(keys, n, code, room);
  if constexpr (can_partition)
    sort_by_parting(room, room + n, n, code, out);
  else if (n <= block<Bits>)
    sort_few(room, n, code, out);
  else
    sort_by_merging(room, n, code, out);
}

}  // namespace

template <class Bits>
const vector_kernels<Bits>& by_vectors() {
  if constexpr (can_partition) {
    static constexpr vector_kernels<Bits> table{sort<Bits>, sort_codes<Bits>, part<Bits>};
    return table;
  } else {
    static constexpr vector_kernels<Bits> table{sort<Bits>, nullptr, nullptr};
    return table;
  }
}

template const vector_kernels<std::uint32_t>& by_vectors<std::uint32_t>();
template const vector_kernels<std::uint64_t>& by_vectors<std::uint64_t>();

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
