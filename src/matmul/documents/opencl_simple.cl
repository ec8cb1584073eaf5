// SPDX-License-Identifier: Apache-2.0
// What:   matmul/opencl:simple: one item per element of C, everything from global memory.
// Order:  each item's own chain.
// Shape:  groups of any width and height, numbered row by row over C.
// Limits: none.
// Twins:  serial.cpp.
__kernel void tw_simple(__global const TW_T* a, ulong a_first, ulong lda, __global const TW_T* b, ulong b_first,
                        ulong ldb, __global TW_T* c, ulong c_first, ulong ldc, ulong rows, ulong columns, ulong depth,
                        ulong first_tile) {
  const ulong across = (columns + get_local_size(0) - 1) / get_local_size(0);
  const ulong tile = first_tile + get_group_id(0);
  const ulong i = tile / across * get_local_size(1) + get_local_id(1);
  const ulong j = tile % across * get_local_size(0) + get_local_id(0);
  if (i >= rows || j >= columns) return;
  __global const TW_T* row = a + a_first + i * lda;
  __global const TW_T* column = b + b_first + j;
  TW_T chain = 0;
  for (ulong k = 0; k < depth; ++k) chain = tw_multiply_add(row[k], column[k * ldb], chain);
  c[c_first + i * ldc + j] = tw_canonical(chain);
}
