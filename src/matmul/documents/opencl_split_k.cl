// SPDX-License-Identifier: Apache-2.0
// What:   matmul/opencl:split_k: a group makes a block of C over a part of K; then the parts of each element are added.
// Order:  its own: one chain for each part of K, and the parts' sums from the first to the last.
// Shape:  16 x 16 items; blocks of C times parts of K. The sums: one item an element.
// Limits: local memory for two blocks; room for a C for each part.
// Twins:  serial.cpp, opencl_blocked16.cl.
#define TW_SIDE 16

__kernel __attribute__((reqd_work_group_size(TW_SIDE, TW_SIDE, 1))) void tw_parts(
    __global const TW_T* a, ulong a_first, ulong lda, __global const TW_T* b, ulong b_first, ulong ldb,
    __global TW_T* c, ulong rows, ulong columns, ulong depth, ulong part_depth, ulong first_tile) {
  __local TW_T a_tile[TW_SIDE][TW_SIDE], b_tile[TW_SIDE][TW_SIDE];
  const int x = get_local_id(0), y = get_local_id(1);
  const ulong down = (rows + TW_SIDE - 1) / TW_SIDE, across = (columns + TW_SIDE - 1) / TW_SIDE;
  const ulong tile = first_tile + get_group_id(0), part = tile / (down * across);
  const ulong2 place = tw_place(tile % (down * across), down, across);
  const ulong i = place.s0 * TW_SIDE + y, j = place.s1 * TW_SIDE + x;
  const ulong end = min(depth, (part + 1) * part_depth);
  TW_T chain = 0;
  for (ulong k = part * part_depth; k < end; k += TW_SIDE) {
    a_tile[y][x] = i < rows && k + x < end ? a[a_first + i * lda + k + x] : TW_ABSENT_A;
    b_tile[y][x] = j < columns && k + y < end ? b[b_first + (k + y) * ldb + j] : TW_ABSENT_B;
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are loaded
    _Pragma("unroll") for (int q = 0; q < TW_SIDE; ++q) chain = tw_multiply_add(a_tile[y][q], b_tile[q][x], chain);
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are done with
  }
  if (i < rows && j < columns) c[(part * rows + i) * columns + j] = chain;
}

__kernel void tw_add_parts(__global const TW_T* parts, ulong count, __global TW_T* c, ulong c_first, ulong ldc,
                           ulong rows, ulong columns, ulong first_tile) {
  const ulong at = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0);
  if (at >= rows * columns) return;
  TW_T sum = parts[at];
  for (ulong part = 1; part < count; ++part) sum += parts[part * rows * columns + at];
  c[c_first + at / columns * ldc + at % columns] = tw_canonical(sum);
}
