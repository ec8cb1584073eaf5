// SPDX-License-Identifier: Apache-2.0
// What:   rows times x: staged_rows takes short rows by groups; whole_rows deals a row's chunks to a team of warps;
//         pieces takes one tile of a row, or what its tiles leave, per warp, and finish then folds each row.
// Order:  a product is rounded. A chunk and a tile are aligned blocks; what is left of a row gives one block value per
//         digit of N, and the blocks of N's digits are folded from the left.
// Shape:  chunks.cuh, and of short rows reduce/cuda/rows.cuh.
//         x comes from the cache, as neighbours read the same of it.
// Limits: none.
// Twins:  serial.cpp, opencl/program.cl.
#pragma once

#include "matvec/cuda/chunks.cuh"
#include "reduce/cuda/rows.cuh"

namespace tilewise::impl::matvec {

using reduce::place, reduce::run_length;

inline constexpr unsigned group_size = 256;
inline constexpr unsigned finish_group_size = 256;
inline constexpr unsigned most_levels = 5;  // levels of chunks in a tile: one chunk value per lane

template <class T>
struct matrix {
  const T *a, *x;
  T* y;
  std::uint64_t m, n, stride;
  bool packable;  // whether every row of A, and x, can be read in packs
};

/// How rows are cut into tiles of 2^level elements, and where the values go.
template <class T>
struct cut {
  unsigned level;
  std::uint64_t tiles;  // tiles of a row, two or more
  T* value;             // room for each row
  std::uint64_t room;
  T* digit;  // digit_count for each row
};

/// Returns, in every lane, P(n) continued from `prefix` for a row of which each lane holds a pack of products. The
/// digits of n cut the packs into blocks. Each lane combines values until it has that of the block of its pack. The
/// lane after the whole packs has the rest.
template <class T>
__device__ T prefix_of_lanes(T prefix, const pack<T>& mine, unsigned n) {
  constexpr unsigned levels = 5;  // n is less than a row of packs
  const unsigned whole = n / pack_length<T>, rest = n % pack_length<T>, at = threadIdx.x % warp_size;
  const int level = at < whole ? 31 - __clz(static_cast<int>(at ^ whole)) : 0;  // of the lane's block
  const T last = mine.at[pack_length<T> - 2];                                   // of three that are left
  T value = tree_of<sum, pack_length<T>>(mine.at);
  if (at == whole) value = rest >= 2 ? tree_of<sum, 2>(mine.at) : mine.at[0];
#pragma unroll
  for (unsigned k = 1; k < levels; ++k) {
    const T both = sum::apply<T>(value, __shfl_xor_sync(all_lanes, value, 1u << (k - 1)));
    if (static_cast<int>(k) <= level) value = both;
  }
  const auto add = [&](T of, unsigned from) {
    prefix = sum::apply<T>(prefix, __shfl_sync(all_lanes, of, static_cast<int>(from)));
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
  return prefix;
}

/// The rest of a row after its chunks: n elements.
template <class T>
class part_of_chunk {
 public:
  __device__ void load(const T* a, const T* x, unsigned n, bool packable) {
    const unsigned whole = n / row_length<T>, first = threadIdx.x % warp_size * pack_length<T>;
    pack<T> loaded[in_flight];
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r)
      loaded[r] = products_at(a, x, r * row_length<T> + first, r < whole ? n : 0, packable);
    if (n % row_length<T> != 0) last_ = products_at(a, x, whole * row_length<T> + first, n, packable);
    T value[in_flight];
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r) value[r] = tree_of<sum, pack_length<T>>(loaded[r].at);
    level_[0] = rows_tree<sum, in_flight>(value);
#pragma unroll
    for (unsigned k = 0; k + 1 < levels; ++k)
      level_[k + 1] = sum::apply<T>(level_[k], __shfl_xor_sync(all_lanes, level_[k], 1u << k));
  }

  /// P(n) continued from `prefix`, in every lane.
  __device__ T continue_prefix(T prefix, unsigned n) const {
    const unsigned whole = n / row_length<T>, rest = n % row_length<T>;
    int at = 0;
#pragma unroll
    for (unsigned k = levels; k-- > 0;) {
      if ((whole >> k & 1) == 0) continue;
      prefix = sum::apply<T>(prefix, __shfl_sync(all_lanes, level_[k], at));
      at += 1 << k;
    }
    return rest == 0 ? prefix : prefix_of_lanes(prefix, last_, rest);
  }

 private:
  static constexpr unsigned levels = std::bit_width(in_flight) - 1;  // fewer than in_flight rows of packs are whole
  T level_[levels];                                                  // of blocks of 2^k rows of packs
  pack<T> last_;
};

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

/// Rows of 1 to 63 chunks. A team of 2^log_team warps takes the chunks of a row, and so reads one stretch of memory at
/// a time. The next warp in turn takes the rest of the row.
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
  part_of_chunk<T> end;
  const unsigned at = chunks * chunk_length<T>;
  if (ends && rest != 0) end.load(a + at, w.x + at, rest, w.packable);
  if (log_team == 0)
    __syncwarp();
  else
    __syncthreads();  // all chunks' values are there
  if (!ends) return;
  T prefix = prefix_of_values(value[team], chunks);
  if (rest != 0) prefix = end.continue_prefix(prefix, rest);
  if (lane == 0) w.y[row] = order::canonical(prefix);
}

/// The rest of a row after its tiles.
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

/// Rows shorter than a chunk. Like the runs of the staged rows, runs of x begin in different banks.
template <class T>
__global__ void __launch_bounds__(reduce::short_row_group, reduce::short_row_groups)
    staged_rows(matrix<T> w, reduce::short_rows<T> of) {
  __shared__ T x[chunk_length<T> / run_length * (run_length + 1)];
  __shared__ reduce::row_stage<T> stage;
  for (unsigned i = threadIdx.x; i < of.length; i += reduce::short_row_group) x[i + i / run_length] = w.x[i];
  reduce::stage_rows(of, stage);
  reduce::fold_rows<sum>(
      of,
      [&](unsigned row, unsigned r, unsigned i) {
        const T a = stage[place<T>(row * of.length + r * run_length + i)];
        return product::apply<T>(a, x[r * (run_length + 1) + i]);
      },
      [](unsigned) { return sum::identity<T>(); },
      [&](unsigned row, T all) { w.y[of.first() + row] = order::canonical(all); });
}

}  // namespace tilewise::impl::matvec
