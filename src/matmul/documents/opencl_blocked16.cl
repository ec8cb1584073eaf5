// SPDX-License-Identifier: Apache-2.0
// What:   matmul/opencl:blocked16: a group makes a 16 x 16 tile of C from 16 x 16 tiles of A and B in local memory;
//         matmul/opencl:blocked does so with tiles of another side.
// Order:  one chain per item, continued from tile to tile.
// Shape:  16 x 16 items, one element of C each; two barriers per step of 16.
// Limits: local memory for two tiles.
// Twins:  serial.cpp.
#ifndef TW_SIDE
#define TW_SIDE 16
#endif

__kernel __attribute__((reqd_work_group_size(TW_SIDE, TW_SIDE, 1))) void tw_blocked16(
    __global const TW_T* a, ulong a_first, ulong lda, __global const TW_T* b, ulong b_first, ulong ldb,
    __global TW_T* c, ulong c_first, ulong ldc, ulong rows, ulong columns, ulong depth, ulong first_tile) {
  __local TW_T a_tile[TW_SIDE][TW_SIDE], b_tile[TW_SIDE][TW_SIDE];
  const int x = get_local_id(0), y = get_local_id(1);
  const ulong2 place =
      tw_place(first_tile + get_group_id(0), (rows + TW_SIDE - 1) / TW_SIDE, (columns + TW_SIDE - 1) / TW_SIDE);
  const ulong i = place.s0 * TW_SIDE + y, j = place.s1 * TW_SIDE + x;
  TW_T chain = 0;
  for (ulong k = 0; k < depth; k += TW_SIDE) {
    a_tile[y][x] = i < rows && k + x < depth ? a[a_first + i * lda + k + x] : TW_ABSENT_A;
    b_tile[y][x] = j < columns && k + y < depth ? b[b_first + (k + y) * ldb + j] : TW_ABSENT_B;
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are loaded
    _Pragma("unroll") for (int q = 0; q < TW_SIDE; ++q) chain = tw_multiply_add(a_tile[y][q], b_tile[q][x], chain);
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are done with
  }
  if (i < rows && j < columns) c[c_first + i * ldc + j] = tw_canonical(chain);
}
