// SPDX-License-Identifier: Apache-2.0
// What:   rows times x: short_rows takes several rows per warp; pieces takes one row or tile of it per warp, and finish
//         then folds the tiles of each row.
// Order:  a product is rounded. Where a row is one piece, the warp folds the blocks of N's digits from the left. Where
//         it is more, a tile is an aligned block, and what is left of the row gives one block value per digit.
// Shape:  loads of 16 bytes per lane, 8 in flight; adjacent warps have the same columns, so that x comes from the
//         cache. Where A's rows or x are not aligned to 16 bytes, elements are loaded one by one, those of whole
//         chunks still without a condition.
// Limits: none.
// Twins:  matvec_serial.cpp, matvec.cl.
#pragma once

#include "reduce/reduce_cuda.cuh"

namespace tilewise::impl::matvec {

using namespace backend::cuda;
using order::product;
using order::sum;
using reduce::chunk_length;
using reduce::chunk_level;

inline constexpr unsigned group_size = 256;
inline constexpr unsigned finish_group_size = 256;
inline constexpr unsigned in_flight = reduce::rows;
template <class T>
inline constexpr unsigned short_in_flight = 16 / sizeof(T);  // with the levels of each row in registers too
inline constexpr unsigned most_levels = 5;                   // of chunks in a tile: their values are one per lane

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
  std::uint64_t tiles;  // of a row
  T* value;             // room for each row
  std::uint64_t room;
  T* digit;  // digit_count for each row
};

/// A pack of A, which is not needed again: it takes no room in the first-level cache. On an H200 8192 rows of 8192
/// doubles took 129 us this way and 136 us with load_pack.
template <class T>
__device__ pack<T> load_once(const T* from) {
  uint4 loaded;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(loaded.x), "=r"(loaded.y), "=r"(loaded.z), "=r"(loaded.w)
               : "l"(from));
  return __builtin_bit_cast(pack<T>, loaded);
}

/// The products of the pack at `first`; missing ones, from `end` on, are the identity.
template <class T>
__device__ pack<T> products_at(const T* a, const T* x, std::uint64_t first, std::uint64_t end, bool packable) {
  pack<T> result;
  if (packable && first + pack_length<T> <= end) {
    result = load_pack(a + first);
    const pack<T> with = *reinterpret_cast<const pack<T>*>(x + first);
#pragma unroll
    for (unsigned i = 0; i < pack_length<T>; ++i) result.at[i] = product::apply<T>(result.at[i], with.at[i]);
  } else {
#pragma unroll
    for (unsigned i = 0; i < pack_length<T>; ++i)
      result.at[i] = first + i < end ? product::apply<T>(a[first + i], x[first + i]) : sum::identity<T>();
  }
  return result;
}

/// The block value of 2^level products, a chunk or less, in every lane of the warp.
template <class T>
__device__ T chunk_of_products(const T* a, const T* x, unsigned level, bool packable) {
  const unsigned first = threadIdx.x % warp_size * pack_length<T>;
  pack<T> loaded[in_flight];
  const auto times_x = [&] {
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r) {
      const pack<T> with = *reinterpret_cast<const pack<T>*>(x + r * row_length<T> + first);
#pragma unroll
      for (unsigned i = 0; i < pack_length<T>; ++i) loaded[r].at[i] = product::apply<T>(loaded[r].at[i], with.at[i]);
    }
  };
  if (packable && level == chunk_level<T>) {
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r) loaded[r] = load_once(a + r * row_length<T> + first);
    times_x();
  } else if (level == chunk_level<T> && reinterpret_cast<std::uintptr_t>(x) % sizeof(pack<T>) == 0) {
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r)
#pragma unroll
      for (unsigned i = 0; i < pack_length<T>; ++i) loaded[r].at[i] = a[r * row_length<T> + first + i];
    times_x();
  } else {
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r)
      loaded[r] = products_at(a, x, r * row_length<T> + first, 1ull << level, packable);
  }
  return reduce::chunk_tree<sum>(loaded);
}

/// The block value of 2^level products, at most 32 chunks, in every lane of the warp.
template <class T>
__device__ T block_of_products(const T* a, const T* x, unsigned level, bool packable) {
  if (level <= chunk_level<T>) return chunk_of_products(a, x, level, packable);
  const unsigned chunks = 1u << (level - chunk_level<T>);
  T mine = sum::identity<T>();
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const T value = chunk_of_products(a, x, chunk_level<T>, packable);
    if (threadIdx.x % warp_size == chunk) mine = value;
    a += chunk_length<T>;
    x += chunk_length<T>;
  }
  return warp_tree<sum>(mine);
}

/// P(n) continued from `prefix` for several rows, of each of which every lane of a part of the warp, 2^log_width lanes,
/// holds a pack; in every lane. The digits of n are the same for all rows, so each is looked at once.
template <unsigned Rows, class T>
__device__ void prefixes_of_lanes(T (&prefix)[Rows], const pack<T> (&mine)[Rows], unsigned n, unsigned log_width) {
  constexpr unsigned levels = 5;  // n is less than a row of packs
  T level[levels][Rows];
  const auto add = [&](unsigned row, T value, int from) {
    prefix[row] = sum::apply<T>(prefix[row], __shfl_sync(all_lanes, value, from, 1 << log_width));
  };
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) level[0][r] = tree_of<sum, pack_length<T>>(mine[r].at);
#pragma unroll
  for (unsigned k = 1; k < levels; ++k) {
    if (k > log_width) continue;
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
      level[k][r] = sum::apply<T>(level[k - 1][r], __shfl_xor_sync(all_lanes, level[k - 1][r], 1u << (k - 1)));
  }
  const unsigned whole = n / pack_length<T>, rest = n % pack_length<T>;
  int at = 0;
#pragma unroll
  for (unsigned k = levels; k-- > 0;) {
    if ((whole >> k & 1) == 0) continue;
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) add(r, level[k][r], at);
    at += 1 << k;
  }
  if (rest >= 2) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) add(r, tree_of<sum, 2>(mine[r].at), at);
  }
  if (rest % 2 != 0) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) add(r, rest == 1 ? mine[r].at[0] : mine[r].at[pack_length<T> - 2], at);
  }
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

/// P(n) continued from `prefix` for the rows at a, a + stride, ..., of which `present` exist; in every lane.
template <unsigned Log, class T>
__device__ void prefixes_of_rows(T (&prefix)[rows_at_once<Log>], const T* a, std::uint64_t stride, const T* x,
                                 unsigned n, std::uint64_t present, bool packable) {
  constexpr unsigned together = rows_at_once<Log>;
  const unsigned lane = threadIdx.x % warp_size, first = lane * pack_length<T>;
  const unsigned whole = n / row_length<T>, rest = n % row_length<T>;
  pack<T> loaded[slots<Log>], last[together];
  products_of_rows<Log>(loaded, a, stride, x, whole, present, packable);
#pragma unroll
  for (unsigned row = 0; row < together; ++row) {
    if (rest == 0) continue;
    last[row] = products_at(a + row * stride, x, whole * row_length<T> + first, row < present ? n : 0, packable);
  }
  T value[slots<Log>], level[Log + 1];
#pragma unroll
  for (unsigned s = 0; s < slots<Log>; ++s) value[s] = tree_of<sum, pack_length<T>>(loaded[s].at);
  level[0] = rows_tree<sum, slots<Log>>(value);
#pragma unroll
  for (unsigned k = 0; k != Log; ++k)
    level[k + 1] = sum::apply<T>(level[k], __shfl_xor_sync(all_lanes, level[k], 1u << k));
#pragma unroll
  for (unsigned row = 0; row < together; ++row) {
    int at = static_cast<int>(row << Log);
#pragma unroll
    for (unsigned k = Log + 1; k-- > 0;) {
      if ((whole >> k & 1) == 0) continue;
      prefix[row] = sum::apply<T>(prefix[row], __shfl_sync(all_lanes, level[k], at));
      at += 1 << k;
    }
  }
  if (rest != 0) prefixes_of_lanes(prefix, last, rest, 5);
}

/// What is left of a row after its tiles: all of it where there are none.
template <class T>
__device__ void end_of_row(const matrix<T>& w, const cut<T>& by, std::uint64_t row) {
  const bool first_lane = threadIdx.x % warp_size == 0;
  const T* const a = w.a + row * w.stride;
  const std::uint64_t least = by.tiles == 0 ? chunk_length<T> : 1;
  T prefix[1] = {sum::identity<T>()};
  std::uint64_t rest = w.n - (by.tiles << by.level);
  while (rest >= least) {
    const std::uint64_t at = w.n - rest;
    const unsigned level = 63 - __clzll(rest);
    const T value = block_of_products(a + at, w.x + at, level, w.packable && at % pack_length<T> == 0);
    prefix[0] = sum::apply<T>(prefix[0], value);
    if (by.tiles != 0 && first_lane) by.digit[row * reduce::digit_count + level] = value;
    rest ^= 1ull << level;
  }
  if (by.tiles != 0) return;
  const std::uint64_t at = w.n - rest;
  if (rest != 0) prefixes_of_rows<3>(prefix, a + at, 0, w.x + at, static_cast<unsigned>(rest), 1, w.packable);
  if (first_lane) w.y[row] = order::canonical(prefix[0]);
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

/// Rows shorter than a row of packs: 2^log_width lanes per row.
template <class T>
__global__ void __launch_bounds__(group_size, 1024 / group_size) short_rows(matrix<T> w, unsigned log_width) {
  const unsigned lane = threadIdx.x % warp_size, column = (lane & ((1u << log_width) - 1)) * pack_length<T>;
  const unsigned together = warp_size >> log_width, n = static_cast<unsigned>(w.n);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (group_size / warp_size) + threadIdx.x / warp_size;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (group_size / warp_size);
  for (std::uint64_t first = warp * together * short_in_flight<T>; first < w.m;
       first += warps * together * short_in_flight<T>) {
    pack<T> loaded[short_in_flight<T>];
#pragma unroll
    for (unsigned r = 0; r < short_in_flight<T>; ++r) {
      const std::uint64_t row = first + r * together + (lane >> log_width);
      loaded[r] = products_at(w.a + row * w.stride, w.x, column, row < w.m ? n : 0, w.packable);
    }
    T prefix[short_in_flight<T>];
#pragma unroll
    for (unsigned r = 0; r < short_in_flight<T>; ++r) prefix[r] = sum::identity<T>();
    prefixes_of_lanes(prefix, loaded, n, log_width);
#pragma unroll
    for (unsigned r = 0; r < short_in_flight<T>; ++r) {
      const std::uint64_t row = first + r * together + (lane >> log_width);
      if (column == 0 && row < w.m) w.y[row] = order::canonical(prefix[r]);
    }
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
