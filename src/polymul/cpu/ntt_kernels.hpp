// SPDX-License-Identifier: Apache-2.0
// What ntt_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

namespace tilewise::impl::polymul {

/// A prime p below 2^49. A residue modulo p is stored as a double: any integer of its residue class up to magnitude 4
/// p.
struct ntt_field {
  double p, inverse;  // 1 / p, rounded
};

/// The roots of the butterflies of a field. Block k of a level holds polynomials modulo x^2n - r[k]^2. It is reduced to
/// blocks 2 k and 2 k + 1 of the next level: polynomials modulo x^n - r[k] and modulo x^n + r[k]. One table serves all
/// levels.
struct ntt_roots {
  double* of_blocks;  // r[k] for k < points / 2 W, where a vector has W lanes
  double* of_lanes;   // r[k W / 2] for k < points / W
};

struct ntt_tables {
  ntt_field field;
  ntt_roots forward, backward;  // backward: the inverses of the roots
};

/// Converts the residues of a number to mixed-radix digits d. The number is d[0] + p[0] (d[1] + p[1] (d[2] + ...)), and
/// the magnitude of d[i] is at most p[i] / 2.
inline constexpr unsigned most_primes = 4;
struct ntt_digits {
  unsigned primes;
  ntt_field field[most_primes];
  double scale[most_primes];                    // 1 / points modulo each prime
  double inverse_of[most_primes][most_primes];  // [i][j]: 1 / p[i] modulo p[j]
};

struct ntt_kernels {
  unsigned lanes;
  /// table[count + i] = table[i] * root for i < count.
  void (*extend)(const ntt_field& field, double* table, std::uint64_t count, double root);
  /// Takes 2^steps rows of block `index` through `steps` levels of butterflies, in place. The rows lie `stride`
  /// elements apart; `columns` elements of each are computed.
  void (*forward)(const ntt_tables& tables, double* x, std::uint64_t stride, std::uint64_t columns, unsigned steps,
                  std::uint64_t index);
  void (*backward)(const ntt_tables& tables, double* x, std::uint64_t stride, std::uint64_t columns, unsigned steps,
                   std::uint64_t index);
  /// Writes n a b to `a`, modulo the polynomial x^n - c of block `index`, where n = 2^log. Overwrites b.
  void (*multiply)(const ntt_tables& tables, double* a, double* b, unsigned log, std::uint64_t index);
  /// Converts `count` integers to residues.
  void (*load_i32)(const ntt_field& field, const std::int32_t* from, double* to, std::uint64_t count);
  void (*load_i64)(const ntt_field& field, const std::int64_t* from, double* to, std::uint64_t count);
  /// Converts the residues of `count` integers to digits, in place: residue[i] becomes digit i of each integer.
  void (*to_digits)(const ntt_digits& digits, double* const* residue, std::uint64_t count);
};

TILEWISE_AT_EACH_LEVEL(const ntt_kernels& ntt();)

inline const ntt_kernels& ntt_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, ntt)();
}

}  // namespace tilewise::impl::polymul
