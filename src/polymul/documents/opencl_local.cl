// SPDX-License-Identifier: Apache-2.0
// What:   polymul/opencl:local: every group copies both whole factors into local memory; one item per coefficient.
// Order:  each item's own chain.
// Shape:  consecutive groups of any size over the `count` coefficients from `begin` on; one barrier.
// Limits: local memory for all of both factors.
// Twins:  serial.cpp.
static inline void tw_copy(__global const TW_T* from, uint count, __local tw_factor* to, ulong modulus) {
  for (uint i = get_local_id(0); i < count; i += get_local_size(0)) to[i] = tw_factor_of(from[i], modulus);
}

__kernel void tw_local(__global const TW_T* a, ulong a_first, ulong n, __global const TW_T* b, ulong b_first, ulong m,
                       __global tw_coefficient* c, ulong c_first, ulong begin, ulong count, ulong modulus,
                       __local tw_factor* factors, ulong first_tile) {
  __local tw_factor* b_factors = factors + n;
  tw_copy(a + a_first, (uint)n, factors, modulus);
  tw_copy(b + b_first, (uint)m, b_factors, modulus);
  barrier(CLK_LOCAL_MEM_FENCE);  // both factors are loaded
  const ulong at = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0), k = begin + at;
  if (at >= count) return;
  tw_chain chain = TW_EMPTY_CHAIN;
  const uint end = (uint)tw_end(k, n);
  for (uint i = (uint)tw_begin(k, m); i < end; ++i)
    chain = tw_add_product(chain, factors[i], b_factors[(uint)k - i], modulus);
  c[c_first + at] = tw_coefficient_of(chain, modulus);
}
