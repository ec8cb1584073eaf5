// What:   the four operators, their identities and the canonical NaN, for the type TW_T and the operator TW_OP.
// Order:  one call of tw_apply is one node of a tree; the left operand is the earlier block.
// Limits: TW_T is float, double, int, long, uint or ulong; TW_OP is 0 sum, 1 product, 2 min, 3 max.
// Twins:  operators.hpp.
#pragma OPENCL FP_CONTRACT OFF

#ifndef TW_T
#define TW_T float  // element type
#define TW_FLOAT 1  // 1 for float and double
#endif
#ifndef TW_OP
#define TW_OP 0
#endif
#ifdef TW_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if TW_OP == 0
inline TW_T tw_apply(TW_T a, TW_T b) { return a + b; }
#elif TW_OP == 1
inline TW_T tw_apply(TW_T a, TW_T b) { return a * b; }
#elif TW_OP == 2 && TW_FLOAT
inline TW_T tw_apply(TW_T a, TW_T b) { return a < b ? a : b < a ? b : a == b ? (signbit(a) ? a : b) : a + b; }
#elif TW_OP == 3 && TW_FLOAT
inline TW_T tw_apply(TW_T a, TW_T b) { return b < a ? a : a < b ? b : a == b ? (signbit(a) ? b : a) : a + b; }
#elif TW_OP == 2
inline TW_T tw_apply(TW_T a, TW_T b) { return min(a, b); }
#else
inline TW_T tw_apply(TW_T a, TW_T b) { return max(a, b); }
#endif
