// SPDX-License-Identifier: Apache-2.0
// What:   butterflies of number-theoretic transforms in doubles; compiled once for each x86-64 level.
// Order:  exact: every value is an integer below 2^53, and two fused multiply-adds compute a b - q p exactly.
// Shape:  up to 16 rows of a block at once in registers, so that four levels cost one pass over memory; the last levels
//         in squares of W x W elements that are transposed, so that lanes never meet.
// Limits: a product's factors are at most 4 p and p in size; p < 2^49. Bounds are noted where values grow.
// Twins:  serial.cpp.
#include "polymul/cpu/ntt_kernels.hpp"

#include "backend/cpu/vector.hpp"

namespace tilewise::impl::polymul::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

using vector = level::vector<double>;
constexpr unsigned width = level::lanes<double>;
constexpr unsigned log_width = width == 8 ? 3 : width == 4 ? 2 : 1;
constexpr unsigned leaf_log = 2 * log_width;

vector nearest(vector v) {
#if defined(__AVX512F__)
  return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT);
#elif defined(__AVX2__)
  return _mm256_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  return _mm_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#endif
}

/// Shoup's and Barrett's reductions with a quotient in floating point (J. van der Hoeven, G. Lecerf, G. Quintin,
/// Modular SIMD arithmetic in Mathemagix, 2016).
struct arithmetic {
  vector minus_p, inverse;

  explicit arithmetic(const ntt_field& f) : minus_p(level::broadcast(-f.p)), inverse(level::broadcast(f.inverse)) {}

  /// The result is at most p / 2 in magnitude.
  vector reduce(vector a) const { return level::multiply_add<double>(nearest(a * inverse), minus_p, a); }
  /// The result is at most (0.5 + 0.19 s) p if a b is at most s p^2: the quotient has three rounding errors of 2^-53 s
  /// p.
  vector product(vector a, vector b) const {
    const vector high = a * b, low = level::multiply_add<double>(a, b, -high);
    return level::multiply_add<double>(nearest(high * inverse), minus_p, high) + low;
  }
};

/// The roots of one level: either the same for all lanes, or one for each lane.
struct block_roots {
  const double* table;
  std::uint64_t index;
  vector operator()(unsigned log, unsigned block) const { return level::broadcast(table[(index << log) + block]); }
};

struct lane_roots {
  vector of[2 * width];  // of[2^log + block]

  /// r[2 k]^2 = r[k], and r[a + b] = r[a] r[b] where a and b have no bit in common.
  lane_roots(const arithmetic& f, const ntt_roots& roots, std::uint64_t index) {
    of[width / 2] = level::load(roots.of_lanes + index * width);
    for (unsigned first = width / 4; first != 0; first /= 2) of[first] = f.product(of[2 * first], of[2 * first]);
    for (unsigned first = 2; first < width; first *= 2)
      for (unsigned block = 1; block < first; ++block)
        of[first + block] = f.product(of[first], level::broadcast(roots.of_blocks[block]));
  }
  vector operator()(unsigned log, unsigned block) const { return of[(1u << log) + block]; }
};

/// The input x is at most 4 p. Its first halves are reduced once, to 0.5 p; each level then adds at most 1.1 p.
template <unsigned Log, class Roots>
[[gnu::always_inline]] inline void forward_rows(const arithmetic& f, vector* x, const Roots& roots) {
#pragma GCC unroll 4
  for (unsigned log = 0; log < Log; ++log) {
    const unsigned half = 1u << (Log - 1 - log);
#pragma GCC unroll 8
    for (unsigned block = 0; block < 1u << log; ++block) {
      const vector root = roots(log, block);
#pragma GCC unroll 8
      for (unsigned i = block * 2 * half; i < block * 2 * half + half; ++i) {
        const vector u = log == 0 ? f.reduce(x[i]) : x[i], v = f.product(x[i + half], root);
        x[i] = u + v;
        x[i + half] = u - v;
      }
    }
  }
}

/// The input x is at most 1.2 p. Sums are reduced in every second level and in the last. Differences are at most 4.8 p;
/// multiplying them by roots reduces them.
template <unsigned Log, class Roots>
[[gnu::always_inline]] inline void backward_rows(const arithmetic& f, vector* x, const Roots& roots) {
#pragma GCC unroll 4
  for (unsigned done = 1; done <= Log; ++done) {
    const unsigned log = Log - done, half = 1u << (done - 1);
#pragma GCC unroll 8
    for (unsigned block = 0; block < 1u << log; ++block) {
      const vector root = roots(log, block);
#pragma GCC unroll 8
      for (unsigned i = block * 2 * half; i < block * 2 * half + half; ++i) {
        const vector u = x[i], v = x[i + half];
        x[i] = done % 2 == 0 || done == Log ? f.reduce(u + v) : u + v;
        x[i + half] = f.product(u - v, root);
      }
    }
  }
}

template <unsigned Rows>
[[gnu::always_inline]] inline void load_rows(vector (&x)[Rows], const double* from, std::uint64_t stride) {
#pragma GCC unroll 16
  for (unsigned i = 0; i < Rows; ++i) x[i] = level::load(from + i * stride);
}
template <unsigned Rows>
[[gnu::always_inline]] inline void store_rows(const vector (&x)[Rows], double* to, std::uint64_t stride) {
#pragma GCC unroll 16
  for (unsigned i = 0; i < Rows; ++i) level::store<double>(to + i * stride, x[i]);
}

template <unsigned Log, bool Forward>
void columns_by(const ntt_tables& tables, double* x, std::uint64_t stride, std::uint64_t columns, std::uint64_t index) {
  const arithmetic f(tables.field);
  for (std::uint64_t c = 0; c < columns; c += width) {
    vector rows[1u << Log];
    load_rows(rows, x + c, stride);
    if constexpr (Forward)
      forward_rows<Log>(f, rows, block_roots{tables.forward.of_blocks, index});
    else
      backward_rows<Log>(f, rows, block_roots{tables.backward.of_blocks, index});
    store_rows(rows, x + c, stride);
  }
}

template <bool Forward>
void pass(const ntt_tables& tables, double* x, std::uint64_t stride, std::uint64_t columns, unsigned steps,
          std::uint64_t index) {
  switch (steps) {
    case 0: return;
    case 1: return columns_by<1, Forward>(tables, x, stride, columns, index);
    case 2: return columns_by<2, Forward>(tables, x, stride, columns, index);
    case 3: return columns_by<3, Forward>(tables, x, stride, columns, index);
    default: return columns_by<4, Forward>(tables, x, stride, columns, index);
  }
}

/// Transposes, by exchanging ever smaller squares across the diagonal.
template <unsigned Distance = width / 2>
[[gnu::always_inline]] inline void transpose(vector (&x)[width]) {
  if constexpr (Distance != 0) {
#pragma GCC unroll 8
    for (unsigned i = 0; i < width; ++i) {
      if ((i & Distance) != 0) continue;
      const vector upper = x[i], lower = x[i + Distance];
      x[i] = level::blend<Distance, double>(upper, level::swap<Distance, double>(lower));
      x[i + Distance] = level::blend<Distance, double>(level::swap<Distance, double>(upper), lower);
    }
    transpose<Distance / 2>(x);
  }
}

/// Multiplies a square of W x W elements: reduces it to residues modulo x - r, which are numbers, multiplies these, and
/// converts back.
void multiply_leaf(const arithmetic& f, const ntt_tables& tables, double* a, double* b, std::uint64_t index) {
  vector x[width], y[width];
  const block_roots rows{tables.forward.of_blocks, index};
  const lane_roots lanes(f, tables.forward, index);
  load_rows(y, b, width);
  forward_rows<log_width>(f, y, rows);
  transpose(y);
  forward_rows<log_width>(f, y, lanes);
  load_rows(x, a, width);
  forward_rows<log_width>(f, x, rows);
  transpose(x);
  forward_rows<log_width>(f, x, lanes);
#pragma GCC unroll 8
  for (unsigned i = 0; i < width; ++i) x[i] = f.product(f.reduce(x[i]), y[i]);
  backward_rows<log_width>(f, x, lane_roots(f, tables.backward, index));
  transpose(x);
  backward_rows<log_width>(f, x, block_roots{tables.backward.of_blocks, index});
  store_rows(x, a, width);
}

/// Depth first, so that smaller blocks are finished within the caches.
void multiply(const ntt_tables& tables, double* a, double* b, unsigned log, std::uint64_t index) {
  if (log == leaf_log) return multiply_leaf(arithmetic(tables.field), tables, a, b, index);
  const unsigned left = log - leaf_log, steps = left <= 4 ? left : left < 8 ? (left + 1) / 2 : 4;
  const std::uint64_t stride = std::uint64_t{1} << (log - steps);
  pass<true>(tables, a, stride, stride, steps, index);
  pass<true>(tables, b, stride, stride, steps, index);
  for (std::uint64_t i = 0; i < std::uint64_t{1} << steps; ++i)
    multiply(tables, a + i * stride, b + i * stride, log - steps, (index << steps) + i);
  pass<false>(tables, a, stride, stride, steps, index);
}

void extend(const ntt_field& field, double* table, std::uint64_t count, double root) {
  const arithmetic f(field);
  const vector by = level::broadcast(root);
  for (std::uint64_t i = 0; i < count; i += width) {
    const unsigned some = count - i < width ? static_cast<unsigned>(count - i) : width;
    const vector from = some == width ? level::load(table + i) : level::load_first(table + i, some);
    const vector product = f.reduce(f.product(from, by));
    some == width ? level::store<double>(table + count + i, product)
                  : level::store_first<double>(table + count + i, product, some);
  }
}

void load_i32(const ntt_field&, const std::int32_t* from, double* to, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) to[i] = from[i];
}

/// Converts each integer in two halves, each of which fits a double exactly.
void load_i64(const ntt_field& field, const std::int64_t* from, double* to, std::uint64_t count) {
  const arithmetic f(field);
  const vector radix = f.reduce(level::broadcast(0x1p32));
  for (std::uint64_t i = 0; i < count; i += width) {
    double high[width] = {}, low[width] = {};
    const unsigned some = count - i < width ? static_cast<unsigned>(count - i) : width;
    for (unsigned l = 0; l < some; ++l) {
      high[l] = static_cast<double>(from[i + l] >> 32);
      low[l] = static_cast<double>(static_cast<std::uint32_t>(from[i + l]));
    }
    const vector sum = f.product(level::load(high), radix) + level::load(low);
    some == width ? level::store<double>(to + i, sum) : level::store_first<double>(to + i, sum, some);
  }
}

/// Garner's algorithm (Knuth, TAOCP 2, 4.3.2).
void to_digits(const ntt_digits& digits, double* const* residue, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; i += width) {
    vector digit[most_primes];
    for (unsigned k = 0; k < digits.primes; ++k) {
      const arithmetic f(digits.field[k]);
      vector rest = f.reduce(f.product(level::load(residue[k] + i), level::broadcast(digits.scale[k])));
      for (unsigned j = 0; j < k; ++j)  // digits are at most p[j] / 2, and all primes within 0.1 % of each other
        rest = f.reduce(f.product(rest - digit[j], level::broadcast(digits.inverse_of[j][k])));
      digit[k] = rest;
    }
    for (unsigned k = 0; k < digits.primes; ++k) level::store<double>(residue[k] + i, digit[k]);
  }
}

}  // namespace

const ntt_kernels& ntt() {
  static constexpr ntt_kernels all{width, extend, pass<true>, pass<false>, multiply, load_i32, load_i64, to_digits};
  return all;
}

}  // namespace tilewise::impl::polymul::TILEWISE_LEVEL
