// SPDX-License-Identifier: Apache-2.0
// What:   HiPerC's GPU program: for each step the boundaries, a mask of any size, and the update, each a kernel over
//         fields with ghosts in global memory; and the copy between such a field and ours.
// Order:  diffuse.cpp.
// Shape:  groups of TW_SIDE x TW_SIDE items, one item per element. In the mask's groups every item copies an element of
//         the tile, and those around which the tile holds a whole mask compute one.
// Limits: compiled after order/operators.cl; local memory for one tile.
// Twins:  cuda/diffuse.cu, cpu/diffuse.cpp.
#ifndef TW_SIDE
#define TW_SIDE 32
#endif
#define TW_GROUP __attribute__((reqd_work_group_size(TW_SIDE, TW_SIDE, 1)))

// The item's row and column when groups are `step` elements apart and divide up `columns`.
static inline long tw_row(ulong group, ulong columns, int step) {
  return (long)(group / ((columns + step - 1) / step) * step + get_local_id(1));
}
static inline long tw_column(ulong group, ulong columns, int step) {
  return (long)(group % ((columns + step - 1) / step) * step + get_local_id(0));
}

// `rows` and `columns` are the field's in all of these, without ghosts.
static inline bool tw_in_strip(long j, long i, long rows, long columns) {
  return j < rows / 2 ? i == 0 : i == columns - 1;
}

static inline bool tw_is_field(long j, long i, long ghosts, long rows, long columns) {
  return j >= ghosts && j < rows + ghosts && i >= ghosts && i < columns + ghosts;
}

__kernel TW_GROUP void tw_copy(__global const TW_T* from, ulong from_first, ulong from_pitch, __global TW_T* to,
                               ulong to_first, ulong to_pitch, ulong rows, ulong columns, ulong first_tile) {
  const ulong group = first_tile + get_group_id(0);
  const long j = tw_row(group, columns, TW_SIDE), i = tw_column(group, columns, TW_SIDE);
  if (j < rows && i < columns) to[to_first + j * to_pitch + i] = from[from_first + j * from_pitch + i];
}

// Each ghost takes the value of the nearest element. Only strips and ghosts are written, and a strip's value is
// known, so no item reads what another writes.
__kernel TW_GROUP void tw_boundaries(__global TW_T* c, ulong rows, ulong columns, uint ghosts, ulong first_tile) {
  const ulong group = first_tile + get_group_id(0), pitch = columns + 2 * ghosts;
  const long j = tw_row(group, pitch, TW_SIDE), i = tw_column(group, pitch, TW_SIDE);
  if (j >= rows + 2 * ghosts || i >= pitch) return;
  const long field_j = clamp(j - (long)ghosts, 0l, (long)rows - 1);
  const long field_i = clamp(i - (long)ghosts, 0l, (long)columns - 1);
  if (tw_in_strip(field_j, field_i, rows, columns))
    c[j * pitch + i] = 1;
  else if (!tw_is_field(j, i, ghosts, rows, columns))
    c[j * pitch + i] = c[(field_j + ghosts) * pitch + field_i + ghosts];
}

__kernel TW_GROUP void tw_convolve(__global const TW_T* c, __constant const TW_T* mask, __global TW_T* lap, ulong rows,
                                   ulong columns, uint ghosts, ulong first_tile) {
  __local TW_T tile[TW_SIDE][TW_SIDE];
  const int g = (int)ghosts, width = 2 * g + 1, x = (int)get_local_id(0), y = (int)get_local_id(1);
  const ulong group = first_tile + get_group_id(0), pitch = columns + 2 * ghosts;
  const long j = tw_row(group, columns, TW_SIDE - 2 * g), i = tw_column(group, columns, TW_SIDE - 2 * g);
  if (j < rows + 2 * ghosts && i < pitch) tile[y][x] = c[j * pitch + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool is_inner = y >= g && y < TW_SIDE - g && x >= g && x < TW_SIDE - g;
  if (!is_inner || !tw_is_field(j, i, g, rows, columns)) return;
  TW_T value = 0;
  for (int mj = 0; mj < width; ++mj)
    for (int mi = 0; mi < width; ++mi) value += mask[mj * width + mi] * tile[y + mj - g][x + mi - g];
  lap[j * pitch + i] = value;
}

__kernel TW_GROUP void tw_update(__global const TW_T* old, __global const TW_T* lap, __global TW_T* next, ulong rows,
                                 ulong columns, uint ghosts, TW_T rate, ulong first_tile) {
  const ulong group = first_tile + get_group_id(0), pitch = columns + 2 * ghosts;
  const long j = tw_row(group, pitch, TW_SIDE), i = tw_column(group, pitch, TW_SIDE), here = j * pitch + i;
  if (tw_is_field(j, i, ghosts, rows, columns)) next[here] = old[here] + rate * lap[here];
}
