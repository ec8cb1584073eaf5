// SPDX-License-Identifier: Apache-2.0
// What:   rows of fewer than 1024 elements, for matvec and reduce_axis: a group stages them and computes P of each.
// Order:  runs of 16 elements are aligned blocks, whose values are a row's elements of a higher level; the rest are the
//         digits of the length.
// Shape:  256 threads take 32 KiB of a matrix, in whole rows. They read rows in memory order, 16 bytes per load, with
//         all loads in flight at once, and stage them side by side, so that rows of any length waste no space. Then a
//         thread takes one run at a time, and after that one row at a time.
// Limits: called by whole groups.
// Twins:  order/block_stack.hpp.
#pragma once

#include "backend/cuda/warp.cuh"
#include "base/ceil_div.hpp"

#include <algorithm>

namespace tilewise::impl::reduce {

using namespace backend::cuda;

inline constexpr unsigned short_row_end = 1024, run_length = 16, stage_bytes = 32768;
inline constexpr unsigned short_row_group = 256, short_row_groups = 4;  // threads, and groups on a compute unit

/// One element is left unused after each 128 bytes, so that rows and runs begin in different banks.
template <class T>
__host__ __device__ constexpr unsigned place(unsigned i) {
  return i + i / (128 / sizeof(T));
}

template <class T>
inline constexpr unsigned stage_elements = stage_bytes / sizeof(T);

/// Short rows of a matrix, `stride` apart. A group takes `together` rows.
template <class T>
struct short_rows {
  const T* a;
  std::uint64_t count, stride;
  unsigned length, together;

  /// A group takes as many rows as the stage holds, but fewer if some compute units would have none. The number is a
  /// multiple of four, so that each group's rows begin at a multiple of 16 bytes if the first row does.
  short_rows(const T* first, std::uint64_t rows, std::uint64_t apart, std::uint64_t elements, std::uint64_t units)
      : a(first), count(rows), stride(apart), length(static_cast<unsigned>(elements)) {
    const std::uint64_t most = stage_elements<T> / std::max(length, 1u);
    const std::uint64_t fair = ceil_div(rows, units * short_row_groups);
    together = static_cast<unsigned>(std::min(most / 4, ceil_div(fair, std::uint64_t{4})) * 4);
  }

  std::uint64_t groups() const { return ceil_div(count, std::uint64_t{together}); }

  /// The first row of the calling group, and how many it has.
  __device__ std::uint64_t first() const { return std::uint64_t{blockIdx.x} * together; }
  __device__ unsigned present() const { return count - first() < together ? count - first() : together; }
};

/// Where the elements of staged rows are.
template <class T>
using row_stage = T[place<T>(stage_elements<T>) + 1];

/// The group's rows in memory; rows without gaps are one.
template <class T>
struct row_block {
  const T* from;
  std::uint64_t stride;
  unsigned rows, length;

  __device__ explicit row_block(const short_rows<T>& of) : from(of.a + of.first() * of.stride), stride(of.stride) {
    const bool is_one = of.stride == of.length;
    rows = is_one ? 1 : of.present();
    length = is_one ? of.present() * of.length : of.length;
  }

  /// How many elements of each row are loaded by packs.
  __device__ unsigned in_packs() const {
    const bool begin_on_packs = rows == 1 || (stride % pack_length<T> == 0 && length % pack_length<T> == 0);
    if (!begin_on_packs || reinterpret_cast<std::uintptr_t>(from) % 16 != 0) return 0;
    return length / pack_length<T> * pack_length<T>;
  }
};

/// Calls store(at, values) for each `Length` elements of [begin, end) of each row. The first of them is element `at` of
/// the staged rows. Eight loads are in flight before the first value is stored.
template <unsigned Length, class T, class Store>
__device__ void move_units(const row_block<T>& block, unsigned begin, unsigned end, const Store& store) {
  struct alignas(Length * sizeof(T)) unit {
    T at[Length];
  };
  if (begin == end) return;
  constexpr unsigned batch = 8;
  const unsigned units = (end - begin) / Length, log_across = 32 - __clz(static_cast<int>(units - 1));
  const unsigned all = block.rows << log_across;
  for (unsigned first = threadIdx.x; first < all; first += short_row_group * batch) {
    unit loaded[batch];
    const auto for_each = [&](const auto& move) {
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const unsigned i = first + k * short_row_group, across = i & ((1u << log_across) - 1);
        if (i < all && across < units) move(loaded[k], i >> log_across, begin + across * Length);
      }
    };
    for_each([&](unit& one, unsigned row, unsigned column) {
      one = *reinterpret_cast<const unit*>(block.from + row * block.stride + column);
    });
    for_each([&](const unit& one, unsigned row, unsigned column) { store(row * block.length + column, one.at); });
  }
}

/// Stages the group's rows: element i of its row r goes to stage[place<T>(r * of.length + i)].
template <class T>
__device__ void stage_rows(const short_rows<T>& of, T* stage) {
  const row_block<T> block(of);
  const auto store = [&]<unsigned Length>(unsigned at, const T(&values)[Length]) {
#pragma unroll
    for (unsigned e = 0; e < Length; ++e) stage[place<T>(at) + e] = values[e];
  };
  const unsigned in_packs = block.in_packs();
  move_units<pack_length<T>>(block, 0, in_packs, store);
  move_units<1>(block, in_packs, block.length, store);
  __syncthreads();
}

/// Folds elements [first, first + count) onto `prefix`; count < 2 Count.
template <class Op, unsigned Count, class T, class Element>
__device__ T fold_digits_of(T prefix, unsigned first, unsigned count, const Element& element) {
  if constexpr (Count == 0) {
    return prefix;
  } else {
    if ((count & Count) != 0) {
      T x[Count];
#pragma unroll
      for (unsigned i = 0; i < Count; ++i) x[i] = element(first + i);
      prefix = Op::template apply<T>(prefix, tree_of<Op, Count>(x));
      first += Count;
    }
    return fold_digits_of<Op, Count / 2>(prefix, first, count, element);
  }
}

/// Calls put(row, P) for each of the group's rows. P is the prefix of all its elements, continued from before(row).
/// element(row, r, i) is element i of run r.
template <class Op, class T, class Element, class Before, class Put>
__device__ void fold_rows(const short_rows<T>& of, const Element& element, const Before& before, const Put& put) {
  __shared__ T value[place<T>(stage_elements<T> / run_length) + 1];
  const unsigned present = of.present(), runs = of.length / run_length;
  for (unsigned at = threadIdx.x; at < present * runs; at += short_row_group) {
    const unsigned row = at / runs, r = at - row * runs;
    T x[run_length];
#pragma unroll
    for (unsigned i = 0; i < run_length; ++i) x[i] = element(row, r, i);
    value[place<T>(at)] = tree_of<Op, run_length>(x);
  }
  __syncthreads();
  for (unsigned row = threadIdx.x; row < present; row += short_row_group) {
    const T whole = fold_digits_of<Op, short_row_end / run_length / 2>(
        before(row), 0, runs, [&](unsigned i) { return value[place<T>(row * runs + i)]; });
    put(row, fold_digits_of<Op, run_length / 2>(whole, 0, of.length % run_length,
                                                [&](unsigned i) { return element(row, runs, i); }));
  }
}

}  // namespace tilewise::impl::reduce
