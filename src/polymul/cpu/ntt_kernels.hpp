// SPDX-License-Identifier: Apache-2.0
// What ntt_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

namespace tilewise::impl::polymul {

/// A prime below 2^49. A residue modulo p is a double that holds any integer of its class of magnitude up to 4 p.
struct ntt_field {
  double p, inverse;  // 1 / p, rounded
};

/// The roots of the butterflies of a field. The polynomials modulo x^2n - r[k]^2 are taken modulo x^n - r[k] and
/// x^n + r[k]; the block of these is number k of its level, and its halves are 2 k and 2 k + 1. One table serves all
/// levels.
struct ntt_roots {
  double* of_blocks;  // r[k] for k < points / 2 W, with W lanes a vector
  double* of_lanes;   // r[k W / 2] for k < points / W
};

struct ntt_tables {
  ntt_field field;
  ntt_roots forward, backward;  // backward: the inverses
};

/// Digits of the mixed-radix form that the residues of one number are converted to: the number is
/// d[0] + p[0] (d[1] + p[1] (d[2] + ...)), with d[i] of magnitude at most p[i] / 2.
inline constexpr unsigned most_primes = 4;
struct ntt_digits {
  unsigned primes;
  ntt_field field[most_primes];
  double scale[most_primes];                    // 1 / points, modulo each
  double inverse_of[most_primes][most_primes];  // [i][j]: 1 / p[i] modulo p[j]
};

struct ntt_kernels {
  unsigned lanes;
  /// table[count + i] = table[i] * root for i < count.
  void (*extend)(const ntt_field& field, double* table, std::uint64_t count, double root);
  /// 2^steps rows `stride` apart of block `index`, `columns` of them, through `steps` levels of butterflies in place.
  void (*forward)(const ntt_tables& tables, double* x, std::uint64_t stride, std::uint64_t columns, unsigned steps,
                  std::uint64_t index);
  void (*backward)(const ntt_tables& tables, double* x, std::uint64_t stride, std::uint64_t columns, unsigned steps,
                   std::uint64_t index);
  /// a = n a b modulo the polynomial of block `index`, x^n - c with n = 2^log; b is overwritten.
  void (*multiply)(const ntt_tables& tables, double* a, double* b, unsigned log, std::uint64_t index);
  /// The residues of `count` integers.
  void (*load_i32)(const ntt_field& field, const std::int32_t* from, double* to, std::uint64_t count);
  void (*load_i64)(const ntt_field& field, const std::int64_t* from, double* to, std::uint64_t count);
  /// Residues, in place: residue[i] becomes the digits number i of `count` integers.
  void (*to_digits)(const ntt_digits& digits, double* const* residue, std::uint64_t count);
};

TILEWISE_AT_EACH_LEVEL(const ntt_kernels& ntt();)

inline const ntt_kernels& ntt_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, ntt)();
}

}  // namespace tilewise::impl::polymul
