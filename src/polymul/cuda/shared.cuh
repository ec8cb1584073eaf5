// SPDX-License-Identifier: Apache-2.0
// What:   shared by the CUDA polynomial products: operands, factors, and the chain of products that gives a
//         coefficient.
// Order:  from +0, a[i] b[k - i] is added for ascending i. Integers: exact modulo 2^64, or residues.
// Shape:  a chain is the work of one thread.
// Limits: 1 <= modulus < 2^63; a launch takes fewer than 2^31 groups.
// Twins:  serial.cpp, opencl/program.cl.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "order/operators.hpp"
#include "polymul/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

template <class T>
struct operands {
  const T* a;
  const T* b;
  product_of<T>* c;
  std::uint64_t n, m, length;  // lengths of a, b and c
  std::uint64_t first;         // c[0] is this coefficient of the product

  operands(const registry::problem& p, const registry::bindings& where)
      : a(where.in[0].as<const T>()),
        b(where.in[1].as<const T>()),
        c(where.out[0].as<product_of<T>>()),
        n(sizes(p).n),
        m(sizes(p).m),
        length(sizes(p).count),
        first(sizes(p).first) {}
};

/// Coefficient k is the sum over i in [begin_of, end_of).
__device__ inline std::uint64_t begin_of(std::uint64_t k, std::uint64_t m) { return k < m ? 0 : k - m + 1; }
__device__ inline std::uint64_t end_of(std::uint64_t k, std::uint64_t n) { return min(k + 1, n); }

// An arithmetic's `store` ends the chain of a coefficient, or adds the chain of one of its parts.

template <class T_>
struct float_arithmetic {
  using T = T_;
  using factor = T;
  using chain = T;                            // T(0) is the empty chain
  static constexpr bool takes_zeros = false;  // whether missing factors may be 0: with floats infinity * 0 is NaN
  static constexpr bool divides = false;      // whether a chain may be cut into parts

  __device__ factor factor_of(T value) const { return value; }
  __device__ void add_product(chain& c, factor a, factor b) const {
    if constexpr (sizeof(T) == 4)
      c = __fmaf_rn(a, b, c);
    else
      c = __fma_rn(a, b, c);
  }
  __device__ void store(T* to, chain c, unsigned) const { *to = order::canonical(c); }
};

/// Modulo 2^64.
template <class T_>
struct wrapping_arithmetic {
  using T = T_;
  using factor = T;
  using chain = std::uint64_t;
  static constexpr bool takes_zeros = true, divides = true;

  __device__ factor factor_of(T value) const { return value; }
  __device__ void add_product(chain& c, factor a, factor b) const {
    c += static_cast<std::uint64_t>(std::int64_t{a}) * static_cast<std::uint64_t>(std::int64_t{b});
  }
  __device__ void store(std::int64_t* to, chain c, unsigned parts) const {
    if (parts == 1)
      *to = static_cast<std::int64_t>(c);
    else
      atomicAdd(reinterpret_cast<unsigned long long*>(to), c);
  }
};

template <class T_>
struct modular_arithmetic {
  using T = T_;
  using factor = std::uint64_t;
  struct chain {
    std::uint64_t low = 0, high = 0;  // high < modulus
  };
  static constexpr bool takes_zeros = true, divides = false;

  std::uint64_t modulus;

  __device__ factor factor_of(T value) const { return residue(value, modulus); }
  /// The upper half of a product of residues is below modulus / 2, so that the sum of the upper halves fits, and one
  /// subtraction of modulus 2^64 is enough.
  __device__ void add_product(chain& c, factor a, factor b) const {
    c.low += a * b;
    c.high += __umul64hi(a, b) + (c.low < a * b ? 1 : 0);
    if (c.high >= modulus) c.high -= modulus;
  }
  __device__ void store(std::int64_t* to, chain c, unsigned) const {
    __extension__ using wide = unsigned __int128;
    *to = static_cast<std::int64_t>((wide{c.high} << 64 | c.low) % modulus);
  }
};

/// Calls f with the arithmetic of a problem.
template <class F>
void with_arithmetic(const registry::problem& p, F&& f) {
  with_coefficients(p.type, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      f(float_arithmetic<T>{});
    else if (modulus_of(p) != 0)
      f(modular_arithmetic<T>{modulus_of(p)});
    else
      f(wrapping_arithmetic<T>{});
  });
}

/// Defined in tiles.cu. The factors of several products follow each other; their results are n + m coefficients apart.
void multiply_by_tiles(const registry::problem& p, const registry::bindings& where, unsigned products,
                       backend::cuda::queue& q);

inline unsigned groups_for(std::uint64_t elements, std::uint64_t elements_a_group) {
  return static_cast<unsigned>(ceil_div(elements, elements_a_group));
}

}  // namespace tilewise::impl::polymul
