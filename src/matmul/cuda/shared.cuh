// SPDX-License-Identifier: Apache-2.0
// What:   what the CUDA matrix products share: the operands, the step of a chain, where a group's tile lies.
// Order:  one chain per element of C: from +0, multiply_add(A[i,k], B[k,j], chain) for k ascending.
// Shape:  a group computes one tile of C, or its share of all tiles.
// Limits: fewer than 2^31 tiles.
// Twins:  serial.cpp, opencl/program.cl.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "matmul/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace tilewise::impl::matmul {

template <class T>
struct operands : sizes {
  const T* a;
  const T* b;
  T* c;

  operands(const registry::problem& p, const registry::bindings& where)
      : sizes(p), a(where.in[0].as<const T>()), b(where.in[1].as<const T>()), c(where.out[0].as<T>()) {}
};

template <class T>
__device__ T multiply_add(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>)
    return __fmaf_rn(a, b, c);
  else if constexpr (std::is_same_v<T, double>)
    return __fma_rn(a, b, c);
  else
    return a * b + c;
}

/// The value in a tile for elements of A beyond K, where those of B are +0. Their product is -0.0, which does not
/// change any chain. +0.0 would change a chain that is -0.0 after an underflow.
template <class T>
__device__ constexpr T absent_a() {
  return order::sum::identity<T>();
}

struct tile_place {
  std::uint64_t row, column;  // of C
};

/// Tiles are numbered in bands of this many rows of tiles, down before across. So groups that run at the same time
/// share rows of A and columns of B in the cache.
template <unsigned Band = 8>
__device__ inline tile_place place_of(const sizes& s, unsigned tile_rows, unsigned tile_columns,
                                      unsigned tile = blockIdx.x) {
  const auto down = static_cast<unsigned>((s.m + tile_rows - 1) / tile_rows);
  const auto across = static_cast<unsigned>((s.n + tile_columns - 1) / tile_columns);
  const unsigned in_band = tile % (Band * across), first = tile / (Band * across) * Band;
  const unsigned height = min(down - first, Band);
  return {std::uint64_t{first + in_band % height} * tile_rows, std::uint64_t{in_band / height} * tile_columns};
}

inline std::uint64_t tiles_of(const sizes& s, unsigned tile_rows, unsigned tile_columns) {
  return ceil_div(s.m, tile_rows) * ceil_div(s.n, tile_columns);
}

inline std::string too_many_tiles(const registry::problem& p, unsigned tile_rows, unsigned tile_columns) {
  return backend::cuda::too_many_groups(tiles_of(sizes(p), tile_rows, tile_columns));
}

inline std::uint64_t units_of(const backend::device& on) { return std::max(on.info().compute_units, 1u); }

/// A shape whose tiles are divided into shares (shares.cuh).
template <class S>
concept shared_shape = requires {
  S::sharing_groups;
};

/// How many groups of each compute unit get shares of so many tiles, if a share is at least one tile.
template <shared_shape S>
std::uint64_t groups_that_share(std::uint64_t tiles, std::uint64_t units) {
  return std::clamp<std::uint64_t>(tiles / units, 1, S::sharing_groups);
}

/// The tile shapes of a variant, the smallest first. Each has `rows` and `columns`, `groups_a_unit`, and `speed`: the
/// speed of many such tiles relative to the others. A compute unit with only one group has AlonePercent of it.
template <unsigned AlonePercent, class... Shapes>
struct tile_shapes {
  static constexpr unsigned count = sizeof...(Shapes);

  /// The shape `wanted` or, if it is 0, the one of the first `among` whose busiest compute unit ends first. If units
  /// get whole tiles, a few large tiles may leave most units idle at the end.
  static unsigned choose(const sizes& s, unsigned wanted, const backend::device& on, unsigned among = count) {
    if (wanted != 0) return wanted - 1;
    unsigned best = 0, i = 0;
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](double time) {
      if (i < among && time <= least) best = i, least = time;
      ++i;
    };
    (consider(estimate<Shapes>(s, units_of(on))), ...);
    return best;
  }
  template <class F>
  static void with(unsigned index, F&& f) {
    unsigned i = 0;
    ((i++ == index ? f(Shapes{}) : void()), ...);
  }
  static std::string too_many(const registry::problem& p, unsigned wanted, const backend::device& on) {
    std::string reason;
    with(choose(sizes(p), wanted, on), [&]<class S>(S) { reason = too_many_tiles(p, S::rows, S::columns); });
    return reason;
  }

 private:
  /// For shapes whose tiles are divided into shares: a compute unit with fewer threads has S::few_threads_percent of
  /// the speed.
  static constexpr unsigned enough_threads = 256;

  /// The time of so many tiles on one compute unit, in arbitrary units.
  template <class S>
  static double time(double tiles, unsigned percent) {
    return tiles * S::rows * S::columns / (S::speed * percent / 100.0);
  }
  /// The time of the busiest compute unit. It serves only to compare shapes.
  template <class S>
  static double estimate(const sizes& s, std::uint64_t units) {
    const std::uint64_t all = tiles_of(s, S::rows, S::columns);
    if constexpr (shared_shape<S>) {
      const std::uint64_t groups = groups_that_share<S>(all, units);
      const unsigned percent = groups * S::threads < enough_threads   ? S::few_threads_percent
                               : groups == 1 && S::sharing_groups > 1 ? AlonePercent
                                                                      : 100;
      return time<S>(std::max(static_cast<double>(all) / static_cast<double>(units), 1.0), percent);
    } else {
      const std::uint64_t tiles = ceil_div(all, units);
      return time<S>(static_cast<double>(tiles), tiles == 1 && S::groups_a_unit > 1 ? AlonePercent : 100);
    }
  }
};

}  // namespace tilewise::impl::matmul
