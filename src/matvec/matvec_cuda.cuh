// SPDX-License-Identifier: Apache-2.0
// What:   rows times x: short_rows takes several rows per warp; whole_rows deals a row's chunks to a team of warps;
//         pieces takes one tile of a row, or what its tiles leave, per warp, and finish then folds each row.
// Order:  a product is rounded. A chunk and a tile are aligned blocks; what is left of a row gives one block value per
//         digit of N, and the blocks of N's digits are folded from the left.
// Shape:  matvec_cuda_chunks.cuh; x comes from the cache, as neighbours read the same of it.
// Limits: none.
// Twins:  matvec_serial.cpp, matvec.cl.
#pragma once

#include "matvec/matvec_cuda_chunks.cuh"

namespace tilewise::impl::matvec {

inline constexpr unsigned group_size = 256;
inline constexpr unsigned finish_group_size = 256;
inline constexpr unsigned short_in_flight = 4;  // packs of a lane, beside as many that are added up
inline constexpr unsigned most_levels = 5;      // of chunks in a tile: their values are one per lane

template <class T>
struct matrix {
  const T *a, *x;
  T* y;
  std::uint64_t m, n, stride;
  bool packable;  // every row of A, and x
};

/// How rows are cut into tiles of 2^level elements, and where the values go.
template <class T>
struct cut {
  unsigned level;
  std::uint64_t tiles;  // of a row, two or more
  T* value;             // room for each row
  std::uint64_t room;
  T* digit;  // digit_count for each row
};

/// P(n) continued from `prefix` for several rows, of each of which every lane of a part of the warp, 2^log_width lanes,
/// holds a pack; in every lane. A lane's value grows until it is that of the block that its pack lies in, of those that
/// the digits of n make; the lane behind the whole packs has what is left.
template <unsigned Rows, class T>
__device__ void prefixes_of_lanes(T (&prefix)[Rows], const pack<T> (&mine)[Rows], unsigned n, unsigned log_width) {
  constexpr unsigned levels = 5;  // n is less than a row of packs
  const unsigned whole = n / pack_length<T>, rest = n % pack_length<T>;
  const unsigned at = threadIdx.x & ((1u << log_width) - 1);
  const int level = at < whole ? 31 - __clz(static_cast<int>(at ^ whole)) : 0;  // of the lane's block
  T value[Rows], last[Rows];
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    value[r] = tree_of<sum, pack_length<T>>(mine[r].at);
    if (at == whole) value[r] = rest >= 2 ? tree_of<sum, 2>(mine[r].at) : mine[r].at[0];
    last[r] = mine[r].at[pack_length<T> - 2];  // of three that are left
  }
#pragma unroll
  for (unsigned k = 1; k < levels; ++k) {
    if (k > log_width) continue;
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const T both = sum::apply<T>(value[r], __shfl_xor_sync(all_lanes, value[r], 1u << (k - 1)));
      if (static_cast<int>(k) <= level) value[r] = both;
    }
  }
  const auto add = [&](const T(&of)[Rows], unsigned from) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
      prefix[r] = sum::apply<T>(prefix[r], __shfl_sync(all_lanes, of[r], static_cast<int>(from), 1 << log_width));
  };
  unsigned from = 0;
#pragma unroll
  for (unsigned k = levels; k-- > 0;) {
    if ((whole >> k & 1) == 0) continue;
    add(value, from);
    from += 1u << k;
  }
  if (rest != 0) add(value, whole);
  if (rest == 3) add(last, whole);
}

// Rows of up to 2^Log rows of packs and part of one more are taken several at once.
template <unsigned Log>
inline constexpr unsigned slots = Log == 3 ? 8 : 4;  // rows of packs in flight, besides what is left of each row
template <unsigned Log>
inline constexpr unsigned rows_at_once = slots<Log> >> Log;

/// The products of the first `whole` rows of packs of each of `present` rows; the others are the identity. Where all
/// rows are present, loads have no condition of their own, and x is loaded once. (Eight rows of packs took 2.5 times as
/// long this way.)
template <unsigned Log, class T>
__device__ void products_of_rows(pack<T> (&loaded)[slots<Log>], const T* a, std::uint64_t stride, const T* x,
                                 unsigned whole, std::uint64_t present, bool packable) {
  constexpr unsigned together = rows_at_once<Log>;
  const unsigned first = threadIdx.x % warp_size * pack_length<T>;
  if (Log < 3 && packable && present >= together) {
#pragma unroll
    for (unsigned s = 0; s < slots<Log>; ++s) {
      const unsigned row = s >> Log, column = s % (1u << Log);
      if (column < whole) loaded[s] = load_pack(a + row * stride + column * row_length<T> + first);
    }
#pragma unroll
    for (unsigned column = 0; column < 1u << Log; ++column) {
      pack<T> with;
      if (column < whole) with = *reinterpret_cast<const pack<T>*>(x + column * row_length<T> + first);
#pragma unroll
      for (unsigned row = 0; row < together; ++row)
#pragma unroll
        for (unsigned i = 0; i < pack_length<T>; ++i) {
          T& value = loaded[row << Log | column].at[i];
          value = column < whole ? product::apply<T>(value, with.at[i]) : sum::identity<T>();
        }
    }
  } else {
#pragma unroll
    for (unsigned s = 0; s < slots<Log>; ++s) {
      const unsigned row = s >> Log, column = s % (1u << Log);
      const unsigned end = row < present && column < whole ? whole * row_length<T> : 0;
      loaded[s] = products_at(a + row * stride, x, column * row_length<T> + first, end, packable);
    }
  }
}

/// What the first n elements, fewer than 2^Log + 1 rows of packs, of the rows at a, a + stride, ..., of which `present`
/// exist, add to their prefixes.
template <unsigned Log, class T>
class rows_of_packs {
  static constexpr unsigned together = rows_at_once<Log>;

 public:
  __device__ void load(const T* a, std::uint64_t stride, const T* x, unsigned n, std::uint64_t present, bool packable) {
    const unsigned whole = n / row_length<T>, first = threadIdx.x % warp_size * pack_length<T>;
    pack<T> loaded[slots<Log>];
    products_of_rows<Log>(loaded, a, stride, x, whole, present, packable);
#pragma unroll
    for (unsigned row = 0; row < together; ++row) {
      if (n % row_length<T> == 0) continue;
      last_[row] = products_at(a + row * stride, x, whole * row_length<T> + first, row < present ? n : 0, packable);
    }
    T value[slots<Log>];
#pragma unroll
    for (unsigned s = 0; s < slots<Log>; ++s) value[s] = tree_of<sum, pack_length<T>>(loaded[s].at);
    level_[0] = rows_tree<sum, slots<Log>>(value);
#pragma unroll
    for (unsigned k = 0; k != Log; ++k)
      level_[k + 1] = sum::apply<T>(level_[k], __shfl_xor_sync(all_lanes, level_[k], 1u << k));
  }

  /// P(n) continued from `prefix`, in every lane.
  __device__ void continue_prefixes(T (&prefix)[together], unsigned n) const {
    const unsigned whole = n / row_length<T>, rest = n % row_length<T>;
#pragma unroll
    for (unsigned row = 0; row < together; ++row) {
      int at = static_cast<int>(row << Log);
#pragma unroll
      for (unsigned k = Log + 1; k-- > 0;) {
        if ((whole >> k & 1) == 0) continue;
        prefix[row] = sum::apply<T>(prefix[row], __shfl_sync(all_lanes, level_[k], at));
        at += 1 << k;
      }
    }
    if (rest != 0) prefixes_of_lanes(prefix, last_, rest, 5);
  }

 private:
  T level_[Log + 1];
  pack<T> last_[together];
};

/// P(n) continued from `prefix` for the rows at a, a + stride, ..., of which `present` exist; in every lane.
template <unsigned Log, class T>
__device__ void prefixes_of_rows(T (&prefix)[rows_at_once<Log>], const T* a, std::uint64_t stride, const T* x,
                                 unsigned n, std::uint64_t present, bool packable) {
  rows_of_packs<Log, T> rows;
  rows.load(a, stride, x, n, present, packable);
  rows.continue_prefixes(prefix, n);
}

/// P(count) over values in memory, fewer than 64, in every lane.
template <class T>
__device__ T prefix_of_values(const T* value, unsigned count) {
  const unsigned lane = threadIdx.x % warp_size;
  T prefix = sum::identity<T>();
  while (count != 0) {
    const unsigned length = 1u << (31 - __clz(static_cast<int>(count)));
    prefix = sum::apply<T>(prefix, warp_tree<sum>(lane < length ? value[lane] : sum::identity<T>()));
    value += length;
    count -= length;
  }
  return prefix;
}

/// Rows of one to fewer than 64 chunks. A row's chunks are dealt to a team of 2^log_team warps, which reads one stretch
/// of memory at a time, and what is left of it to the next warp in turn.
template <class T>
__global__ void __launch_bounds__(group_size, 1024 / group_size) whole_rows(matrix<T> w, unsigned log_team) {
  constexpr unsigned warps = group_size / warp_size;
  __shared__ T value[warps][1u << (most_levels + 1)];
  const unsigned warp = warp_of_group(), lane = threadIdx.x % warp_size, team = warp >> log_team;
  const unsigned in_team = warp & ((1u << log_team) - 1), chunks = static_cast<unsigned>(w.n / chunk_length<T>);
  const unsigned rest = static_cast<unsigned>(w.n % chunk_length<T>);
  const std::uint64_t row = std::uint64_t{blockIdx.x} * (warps >> log_team) + team;
  const bool ends = row < w.m && in_team == (chunks & ((1u << log_team) - 1));
  const T* const a = w.a + row * w.stride;
  for (unsigned chunk = in_team; row < w.m && chunk < chunks; chunk += 1u << log_team) {
    const unsigned at = chunk * chunk_length<T>;
    const T of_chunk = whole_chunk(a + at, w.x + at, w.packable);
    if (lane == 0) value[team][chunk] = of_chunk;
  }
  rows_of_packs<3, T> end;
  const unsigned at = chunks * chunk_length<T>;
  if (ends && rest != 0) end.load(a + at, 0, w.x + at, rest, 1, w.packable);
  if (log_team == 0)
    __syncwarp();
  else
    __syncthreads();  // all chunks' values are there
  if (!ends) return;
  T prefix[1] = {prefix_of_values(value[team], chunks)};
  if (rest != 0) end.continue_prefixes(prefix, rest);
  if (lane == 0) w.y[row] = order::canonical(prefix[0]);
}

/// What is left of a row after its tiles.
template <class T>
__device__ void end_of_row(const matrix<T>& w, const cut<T>& by, std::uint64_t row) {
  const T* const a = w.a + row * w.stride;
  for (std::uint64_t rest = w.n - (by.tiles << by.level); rest != 0;) {
    const std::uint64_t at = w.n - rest;
    const unsigned level = 63 - __clzll(rest);
    const T value = block_of_products(a + at, w.x + at, level, w.packable && at % pack_length<T> == 0);
    if (threadIdx.x % warp_size == 0) by.digit[row * reduce::digit_count + level] = value;
    rest ^= 1ull << level;
  }
}

template <class T>
__global__ void __launch_bounds__(group_size, 1024 / group_size) pieces(matrix<T> w, cut<T> by) {
  const std::uint64_t units = w.m * (by.tiles + ((w.n - (by.tiles << by.level)) != 0));
  const unsigned warps = group_size / warp_size;
  const std::uint64_t step = std::uint64_t{gridDim.x} * warps;
  for (std::uint64_t unit = std::uint64_t{blockIdx.x} * warps + threadIdx.x / warp_size; unit < units; unit += step) {
    const std::uint64_t piece = unit / w.m, row = unit - piece * w.m;
    if (piece == by.tiles) {
      end_of_row(w, by, row);
    } else {
      const std::uint64_t at = piece << by.level;
      const T value = block_of_products(w.a + row * w.stride + at, w.x + at, by.level, w.packable);
      if (threadIdx.x % warp_size == 0) by.value[row * by.room + piece] = value;
    }
  }
}

/// One group per row.
template <class T>
__global__ void __launch_bounds__(finish_group_size) finish(matrix<T> w, cut<T> by) {
  __shared__ T digit[reduce::digit_count];
  const std::uint64_t row = blockIdx.x;
  if (threadIdx.x < by.level && (w.n >> threadIdx.x & 1) != 0)
    digit[threadIdx.x] = by.digit[row * reduce::digit_count + threadIdx.x];
  reduce::fold_tiles<sum>(w.n, by.level, by.value + row * by.room, digit);
  __syncthreads();
  if (threadIdx.x == 0) w.y[row] = order::canonical(reduce::fold_digits<sum>(w.n, digit));
}

/// The first `present` elements of a pack.
template <class T>
__device__ pack<T> load_part(const T* from, unsigned present, bool packable) {
  pack<T> loaded{};
  if (packable && present == pack_length<T>) return load_once(from);
#pragma unroll
  for (unsigned i = 0; i < pack_length<T>; ++i)
    if (i < present) loaded.at[i] = from[i];
  return loaded;
}

/// Rows shorter than a row of packs: 2^log_width lanes per row, each with a pack of several rows at once; while these
/// are added up, the next ones are under way. x is loaded once. `InPacks`: rows are whole packs, and packable, so that
/// no load has a condition of its own, which took a fifth longer (decision 247).
template <bool InPacks, class T>
__global__ void __launch_bounds__(group_size, 1024 / group_size) short_rows(matrix<T> w, unsigned log_width) {
  const unsigned lane = threadIdx.x % warp_size, column = (lane & ((1u << log_width) - 1)) * pack_length<T>;
  const unsigned together = warp_size >> log_width, n = static_cast<unsigned>(w.n);
  const unsigned present = column < n ? min(n - column, pack_length<T>) : 0;
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (group_size / warp_size) + threadIdx.x / warp_size;
  const std::uint64_t step = std::uint64_t{gridDim.x} * (group_size / warp_size) * together * short_in_flight;
  const pack<T> with = load_part(w.x + column, present, InPacks);
  pack<T> next[short_in_flight];
  const auto row_of = [&](std::uint64_t first, unsigned r) { return first + r * together + (lane >> log_width); };
  const auto load = [&](std::uint64_t first) {
#pragma unroll
    for (unsigned r = 0; r < short_in_flight; ++r) {
      const std::uint64_t row = row_of(first, r);
      if (row >= w.m || present == 0) continue;
      const T* const from = w.a + row * w.stride + column;
      next[r] = InPacks ? load_once(from) : load_part(from, present, w.packable);
    }
  };
  std::uint64_t first = warp * together * short_in_flight;
  if (first < w.m) load(first);
  for (; first < w.m; first += step) {
    pack<T> mine[short_in_flight];
#pragma unroll
    for (unsigned r = 0; r < short_in_flight; ++r)
#pragma unroll
      for (unsigned i = 0; i < pack_length<T>; ++i) {
        const bool is_there = InPacks ? present != 0 : i < present;
        mine[r].at[i] = is_there ? product::apply<T>(next[r].at[i], with.at[i]) : sum::identity<T>();
      }
    if (first + step < w.m) load(first + step);
    T prefix[short_in_flight];
#pragma unroll
    for (unsigned r = 0; r < short_in_flight; ++r) prefix[r] = sum::identity<T>();
    prefixes_of_lanes(prefix, mine, n, log_width);
#pragma unroll
    for (unsigned r = 0; r < short_in_flight; ++r)
      if (const std::uint64_t row = row_of(first, r); column == 0 && row < w.m) w.y[row] = order::canonical(prefix[r]);
  }
}

/// Rows from a row of packs up to a chunk.
template <unsigned Log, class T>
__global__ void __launch_bounds__(group_size, 1024 / group_size) middle_rows(matrix<T> w) {
  constexpr unsigned together = rows_at_once<Log>;
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (group_size / warp_size) + threadIdx.x / warp_size;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (group_size / warp_size);
  for (std::uint64_t first = warp * together; first < w.m; first += warps * together) {
    T prefix[together];
#pragma unroll
    for (unsigned row = 0; row < together; ++row) prefix[row] = sum::identity<T>();
    prefixes_of_rows<Log>(prefix, w.a + first * w.stride, w.stride, w.x, static_cast<unsigned>(w.n), w.m - first,
                          w.packable);
#pragma unroll
    for (unsigned row = 0; row < together; ++row)
      if (threadIdx.x % warp_size == 0 && first + row < w.m) w.y[first + row] = order::canonical(prefix[row]);
  }
}

}  // namespace tilewise::impl::matvec
