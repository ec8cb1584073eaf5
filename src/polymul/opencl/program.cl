// SPDX-License-Identifier: Apache-2.0
// What:   what the OpenCL polynomial products share: factors, and the chain of products that makes a coefficient.
// Order:  from +0, a[i] b[k - i] is added for ascending i. Integers: exact modulo 2^64; with TW_MODULAR residues.
// Shape:  a chain is the work of one item.
// Limits: included after order/operators.cl with TW_OP 0, so that integers are unsigned; 1 <= modulus < 2^63.
// Twins:  serial.cpp.

// Coefficient k takes the i's from tw_begin up to but not including tw_end.
static inline ulong tw_begin(ulong k, ulong m) { return k < m ? 0 : k - m + 1; }
static inline ulong tw_end(ulong k, ulong n) { return min(k + 1, n); }

// TW_T is unsigned; the values it holds are not.
#if TW_W == 4
#define tw_signed(value) ((long)(int)(value))
#else
#define tw_signed(value) ((long)(value))
#endif

#if TW_FLOAT
typedef TW_T tw_coefficient, tw_factor, tw_chain;
#define TW_EMPTY_CHAIN ((TW_T)0)
#define tw_factor_of(value, modulus) (value)
#define tw_coefficient_of(chain, modulus) tw_canonical(chain)

static inline tw_chain tw_add_product(tw_chain chain, tw_factor a, tw_factor b, ulong modulus) {
  return fma(a, b, chain);
}

#elif !defined(TW_MODULAR)
typedef TW_T tw_factor;
typedef ulong tw_coefficient, tw_chain;
#define TW_EMPTY_CHAIN 0
#define tw_factor_of(value, modulus) (value)
#define tw_coefficient_of(chain, modulus) (chain)

static inline tw_chain tw_add_product(tw_chain chain, tw_factor a, tw_factor b, ulong modulus) {
  return chain + (ulong)tw_signed(a) * (ulong)tw_signed(b);
}

#else
typedef ulong tw_coefficient, tw_factor;
typedef ulong2 tw_chain;  // 128 bits, s1 the upper half; s1 < modulus
#define TW_EMPTY_CHAIN ((ulong2)(0))

static inline tw_factor tw_factor_of(TW_T value, ulong modulus) {
  const long rest = tw_signed(value) % (long)modulus;
  return (ulong)(rest < 0 ? rest + (long)modulus : rest);
}

// The upper half of a product of residues is below modulus / 2, so that the sum of the upper halves fits, and one
// subtraction of modulus 2^64 is enough.
static inline tw_chain tw_add_product(tw_chain chain, tw_factor a, tw_factor b, ulong modulus) {
  const ulong low = chain.s0 + a * b;
  const ulong high = chain.s1 + mul_hi(a, b) + (low < chain.s0 ? 1 : 0);
  return (ulong2)(low, high < modulus ? high : high - modulus);
}

// The division of 128 bits, bit by bit: `rest` stays below the modulus, so that twice as much fits.
static inline tw_coefficient tw_coefficient_of(tw_chain chain, ulong modulus) {
  ulong rest = chain.s1;
  for (int bit = 63; bit >= 0; --bit) {
    rest = rest << 1 | (chain.s0 >> bit & 1);
    rest = rest < modulus ? rest : rest - modulus;
  }
  return rest;
}
#endif
