// SPDX-License-Identifier: Apache-2.0
// What:   what the CUDA convolutions share: the operands, and where a group's tile lies.
// Order:  one chain per result: from +0, for r and s ascending, the product and the sum each rounded.
// Shape:  a group computes one tile of the result.
// Limits: fewer than 2^31 tiles.
// Twins:  serial.cpp, opencl/program.cl.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "convolve/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

inline constexpr unsigned group_columns = 32, group_rows = 8, group_size = group_columns * group_rows;

template <class T>
struct operands : sizes {
  const T* x;
  const T* weights;
  T* y;

  operands(const registry::problem& p, const registry::bindings& where)
      : sizes(p), x(where.in[0].as<const T>()), weights(where.in[1].as<const T>()), y(where.out[0].as<T>()) {}
};

struct tile_place {
  std::uint64_t row, column;  // of the result
};

__device__ inline tile_place place_of(const sizes& s, unsigned tile_rows, unsigned tile_columns) {
  const auto across = static_cast<unsigned>(ceil_div(s.result.columns, tile_columns));
  return {std::uint64_t{blockIdx.x / across} * tile_rows, std::uint64_t{blockIdx.x % across} * tile_columns};
}

/// Why a group cannot use this much shared memory; empty if it can.
inline std::string too_much_shared(std::uint64_t bytes, const device_info& on) {
  if (bytes <= on.local_memory) return "";
  return "a group needs " + std::to_string(bytes) + " bytes of shared memory and " + on.name + " has " +
         std::to_string(on.local_memory);
}

/// Calls `f` with the number of rows of a mask that has unrolled loops.
template <class F>
void with_unrolled(const image_size& mask, F&& f) {
  switch (unrolled_rows(mask)) {
    case 3: return f.template operator()<3>();
    case 5: return f.template operator()<5>();
    case 7: return f.template operator()<7>();
    case 9: return f.template operator()<9>();
    default: return;
  }
}

}  // namespace tilewise::impl::convolve
