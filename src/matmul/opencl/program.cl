// SPDX-License-Identifier: Apache-2.0
// What:   what the OpenCL matrix products share.
// Order:  one chain per element of C: from +0, tw_multiply_add(A[i,k], B[k,j], chain) for k ascending.
// Limits: included after order/operators.cl with TW_OP 0, so that integers are unsigned and the identity is -0.0.
// Twins:  serial.cpp.

// Of elements or of vectors.
#if TW_FLOAT
#define tw_multiply_add(a, b, c) fma(a, b, c)
#else
#define tw_multiply_add(a, b, c) ((a) * (b) + (c))
#endif

// What a tile holds for elements beyond K; tw_unit_at_end fills with the former. Their product is -0.0, which
// leaves every chain as it is. +0.0 would not: a chain may be -0.0 after an underflow.
#define TW_ABSENT_A TW_IDENTITY
#define TW_ABSENT_B ((TW_T)0)

// Tiles are numbered in bands of this many rows of tiles, down before across: groups that run at the same time then
// share rows of A and columns of B in the cache. 4 to 32 are equally fast on an H200 at 4096.
#define TW_BAND 8

static inline ulong2 tw_place(ulong tile, ulong down, ulong across) {
  const ulong band = tile / (TW_BAND * across), rest = tile % (TW_BAND * across);
  const ulong height = min(down - band * TW_BAND, (ulong)TW_BAND);
  return (ulong2)(band * TW_BAND + rest % height, rest / height);
}
