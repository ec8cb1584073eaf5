// SPDX-License-Identifier: Apache-2.0
// What:   polymul/opencl:global: one item per coefficient of the product, everything from global memory.
// Order:  each item's own chain.
// Shape:  consecutive groups of any size over the `count` coefficients from `begin` on.
// Limits: none.
// Twins:  serial.cpp.
__kernel void tw_global(__global const TW_T* a, ulong a_first, ulong n, __global const TW_T* b, ulong b_first, ulong m,
                        __global tw_coefficient* c, ulong c_first, ulong begin, ulong count, ulong modulus,
                        ulong first_tile) {
  const ulong at = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0), k = begin + at;
  if (at >= count) return;
  tw_chain chain = TW_EMPTY_CHAIN;
  const ulong end = tw_end(k, n);
  for (ulong i = tw_begin(k, m); i < end; ++i)
    chain = tw_add_product(chain, tw_factor_of(a[a_first + i], modulus), tw_factor_of(b[b_first + k - i], modulus),
                           modulus);
  c[c_first + at] = tw_coefficient_of(chain, modulus);
}
