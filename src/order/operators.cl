// SPDX-License-Identifier: Apache-2.0
// What:   the four operators, their identities and the canonical NaN, for type TW_T and operator TW_OP.
// Order:  one call of tw_apply is one node of a tree; the left operand is the earlier block.
// Limits: TW_T is float, double, int, long, uint or ulong; TW_OP is 0 sum, 1 product, 2 min, 3 max.
// Twins:  operators.hpp.
#pragma OPENCL FP_CONTRACT OFF

#ifndef TW_T
#define TW_T float  // element type
#define TW_FLOAT 1  // 1 for float and double
#define TW_LOWEST -INFINITY
#define TW_LARGEST INFINITY
#endif
#ifndef TW_OP
#define TW_OP 0
#endif
#ifdef TW_FP64  // defined if TW_T is double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// Each identity leaves the bits of every value unchanged: -0.0 for a sum, since -0.0 + -0.0 is -0.0.
#if TW_OP == 0
#if TW_FLOAT
#define TW_IDENTITY ((TW_T)-0.0f)
#else
#define TW_IDENTITY ((TW_T)0)
#endif
static inline TW_T tw_apply(TW_T a, TW_T b) { return a + b; }
#elif TW_OP == 1
#define TW_IDENTITY ((TW_T)1)
static inline TW_T tw_apply(TW_T a, TW_T b) { return a * b; }
#elif TW_OP == 2
#define TW_IDENTITY ((TW_T)TW_LARGEST)
#if TW_FLOAT
static inline TW_T tw_apply(TW_T a, TW_T b) {
  return a < b ? a : b < a ? b : a == b ? (signbit(a) ? a : b) : a + b;  // the last: at least one is a NaN
}
#else
static inline TW_T tw_apply(TW_T a, TW_T b) { return min(a, b); }
#endif
#else
#define TW_IDENTITY ((TW_T)TW_LOWEST)
#if TW_FLOAT
static inline TW_T tw_apply(TW_T a, TW_T b) { return b < a ? a : a < b ? b : a == b ? (signbit(a) ? b : a) : a + b; }
#else
static inline TW_T tw_apply(TW_T a, TW_T b) { return max(a, b); }
#endif
#endif

// Makes a NaN the canonical NaN, since processors give different signs and payloads.
#if !TW_FLOAT
static inline TW_T tw_canonical(TW_T value) { return value; }
#elif defined(TW_FP64)
static inline TW_T tw_canonical(TW_T value) { return value == value ? value : as_double(0x7ff8000000000000ul); }
#else
static inline TW_T tw_canonical(TW_T value) { return value == value ? value : as_float(0x7fc00000u); }
#endif
