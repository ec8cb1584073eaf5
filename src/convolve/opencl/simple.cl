// SPDX-License-Identifier: Apache-2.0
// What:   convolve/opencl:simple: one item per result, everything from global memory.
// Order:  each item's own chain.
// Shape:  groups of 32 columns by 8 rows.
// Limits: none.
// Twins:  serial.cpp.
__kernel __attribute__((reqd_work_group_size(32, 8, 1))) void tw_simple(
    __global const TW_T* image, ulong image_first, ulong rows, ulong columns, __global const TW_T* mask,
    ulong mask_first, ulong mask_rows, ulong mask_columns, __global TW_T* y, ulong y_first, ulong y_rows,
    ulong y_columns, ulong above, ulong left, ulong first_tile) {
  const ulong across = (y_columns + 31) / 32, tile = first_tile + get_group_id(0);
  const ulong i = tile / across * 8 + get_local_id(1), j = tile % across * 32 + get_local_id(0);
  if (i >= y_rows || j >= y_columns) return;
  image += image_first;
  mask += mask_first;
  TW_T chain = 0;
  for (ulong r = 0; r < mask_rows; ++r)
    for (ulong s = 0; s < mask_columns; ++s)
      chain += mask[r * mask_columns + s] * tw_pixel(image, rows, columns, i + r - above, j + s - left);
  y[y_first + i * y_columns + j] = tw_canonical(chain);
}
