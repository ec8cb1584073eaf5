// SPDX-License-Identifier: Apache-2.0
// What:   copies A and B so that their rows begin at multiples of 16 bytes, for kernels that require this.
// Order:  none; only data moves.
// Shape:  one launch for both; a warp copies a segment of a row, all of whose loads are under way at once.
// Limits: memory for the copies; fewer than 2^31 groups. Rows of a copy are padded with zeros to whole packs; elements
//         beyond these are not set.
// Twins:  none.
#pragma once

#include "base/ceil_div.hpp"
#include "matmul/cuda/copy.cuh"

#include <deque>
#include <utility>

namespace tilewise::impl::matmul {

template <class T>
struct row_copy {
  static constexpr unsigned loads = 16, segment = loads * warp_size, warps = 8;  // per lane, per warp, per group

  const T* from = nullptr;
  T* to = nullptr;
  std::uint64_t rows = 0, columns = 0, from_stride = 0, to_stride = 0;
  unsigned segments_a_row = 1;

  unsigned groups() const { return static_cast<unsigned>(ceil_div(rows, std::uint64_t{warps}) * segments_a_row); }
};

template <class T>
__global__ void __launch_bounds__(row_copy<T>::warps* warp_size)
    copy_rows(const row_copy<T> a, const row_copy<T> b, unsigned groups_of_a) {
  constexpr unsigned loads = row_copy<T>::loads;
  const bool is_of_a = blockIdx.x < groups_of_a;
  const row_copy<T> all = is_of_a ? a : b;
  const unsigned group = is_of_a ? blockIdx.x : blockIdx.x - groups_of_a;
  const std::uint64_t row = std::uint64_t{group / all.segments_a_row} * all.warps + threadIdx.x / warp_size,
                      column = std::uint64_t{group % all.segments_a_row} * all.segment + threadIdx.x % warp_size;
  if (row >= all.rows) return;
  const T* const from = all.from + row * all.from_stride + column;
  T* const to = all.to + row * all.to_stride + column;
  T held[loads];
#pragma unroll
  for (unsigned i = 0; i < loads; ++i) held[i] = column + i * warp_size < all.columns ? from[i * warp_size] : T(0);
  const std::uint64_t end = ceil_div(all.columns, std::uint64_t{pack_length<T>}) * pack_length<T>;
#pragma unroll
  for (unsigned i = 0; i < loads; ++i)
    if (column + i * warp_size < end) to[i * warp_size] = held[i];
}

/// A product's A and B, in place or copied. An operand whose rows do not all begin at multiples of 16 bytes is copied,
/// if that is allowed and there is room. The copies live as long as this object.
template <class T>
class packable_operands {
 public:
  packable_operands(const registry::problem& p, const registry::bindings& where, backend::cuda::queue& q, bool may_copy)
      : problem_(p), where_(where), queue_(q) {
    sizes s(p);
    are_packable_ = is_packable(where.in[0].as<const T>(), s.lda) && is_packable(where.in[1].as<const T>(), s.ldb);
    if (are_packable_ || !may_copy) return;
    try {
      const row_copy<T> a = copy_unless_packable(0, s.m, s.k, s.lda), b = copy_unless_packable(1, s.k, s.n, s.ldb);
      copy_rows<<<a.groups() + b.groups(), row_copy<T>::warps * warp_size, 0, q.stream()>>>(a, b, a.groups());
      TW_CUDA(cudaGetLastError());
      problem_.shape = {s.m, s.n, s.k, s.lda, s.ldb, s.ldc};
      are_packable_ = true;
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory) throw;
      rooms_.clear();
      where_ = where;
    }
  }

  bool are_packable() const { return are_packable_; }
  const registry::problem& problem() const { return problem_; }
  const registry::bindings& where() const { return where_; }

 private:
  /// Replaces the operand by a copy if its rows cannot be read in packs. Returns the copying to do, which may be none.
  row_copy<T> copy_unless_packable(unsigned operand, std::uint64_t rows, std::uint64_t columns, std::uint64_t& stride) {
    backend::memory& lies = where_.in[operand];
    const T* const from = lies.as<const T>();
    if (is_packable(from, stride)) return {};
    // With rows at multiples of a cache line, products of 3001 a side take 16 % less time than at multiples of 16
    // bytes.
    constexpr std::uint64_t line = 128 / sizeof(T);
    const std::uint64_t unit = columns < line ? pack_length<T> : line, wider = ceil_div(columns, unit) * unit;
    const auto segments = static_cast<unsigned>(ceil_div(columns, std::uint64_t{row_copy<T>::segment}));
    lies = rooms_.emplace_back(queue_, rows * wider * sizeof(T));
    return {from, lies.as<T>(), rows, columns, std::exchange(stride, wider), wider, segments};
  }

  registry::problem problem_;
  registry::bindings where_;
  backend::cuda::queue& queue_;
  std::deque<backend::buffer> rooms_;
  bool are_packable_;
};

}  // namespace tilewise::impl::matmul
