// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/opencl:tiles and diffuse/opencl:temporal: one or several steps of a tile in local memory.
// Order:  the mask's rows in order, in each its columns in order; each product and each sum is rounded.
// Shape:  an item owns TW_ROWS elements of a column of the tile. They are read at once, and then are alternately in the
//         item's registers, where they are stepped, and in local memory, for the neighbours. With each step the valid
//         part of the tile shrinks by a radius on each side; what is left is written.
// Limits: embedded after program.cl; local memory for a TW_WIDTH x TW_HEIGHT tile.
// Twins:  serial.cpp, documents/cuda_tiles.cu.
#ifndef TW_WIDTH
#define TW_WIDTH 64
#define TW_HEIGHT 32
#define TW_ROWS 8
#endif

// The part of a tile that is within the field. A ghost has the value of the field's nearest element, so a neighbour
// beyond the field is that element; beyond the tile any value will do.
typedef struct {
  int left, right, top, bottom;  // the last ones within
  int strip_begin, strip_end;    // of the item's column, the rows that are always 1
} tw_part;

static inline tw_part tw_part_of(long top, long left, long column, long rows, long columns, long half_rows) {
  tw_part p;
  p.left = (int)max(-left, 0l);
  p.right = (int)min(columns - 1 - left, (long)TW_WIDTH - 1);
  p.top = (int)max(-top, 0l);
  p.bottom = (int)min(rows - 1 - top, (long)TW_HEIGHT - 1);
  // One column may hold both strips: the left one above the middle, the right one below.
  const int middle = (int)clamp(half_rows - top, 0l, (long)TW_HEIGHT);
  p.strip_begin = column == 0 ? 0 : middle;
  p.strip_end = column == columns - 1 ? TW_HEIGHT : middle;
  return p;
}

// The element in row y and column x of the tile.
static inline TW_T tw_stepped(__local const TW_T* tile, int y, int x, tw_part p, __constant const TW_T* w) {
#define TW_AT(dy, dx) tile[clamp(y + (dy), p.top, p.bottom) * TW_WIDTH + clamp(x + (dx), p.left, p.right)]
  TW_T lap;
  TW_LAPLACIAN(lap)
  return TW_AT(0, 0) + w[TW_RATE] * lap;
#undef TW_AT
}

__kernel __attribute__((reqd_work_group_size(TW_WIDTH, TW_HEIGHT / TW_ROWS, 1))) void tw_steps(
    __global const TW_T* from, ulong from_first, __global TW_T* to, ulong to_first, ulong rows, ulong columns,
    ulong half_rows, uint steps, __constant const TW_T* w, ulong first_tile) {
  __local TW_T tile[TW_HEIGHT * TW_WIDTH];
  const int halo = (int)steps * TW_RADIUS;
  const ulong across = (columns + TW_WIDTH - 2 * halo - 1) / (TW_WIDTH - 2 * halo);
  const ulong number = first_tile + get_group_id(0);
  const long top = (long)(number / across * (TW_HEIGHT - 2 * halo)) - halo;  // of the tile's first element
  const long left = (long)(number % across * (TW_WIDTH - 2 * halo)) - halo;
  const int x = get_local_id(0), y = get_local_id(1) * TW_ROWS;
  const tw_part p = tw_part_of(top, left, left + x, rows, columns, half_rows);
  TW_T mine[TW_ROWS];
  from += (long)from_first + top * (long)columns + left + clamp(x, p.left, p.right);
  _Pragma("unroll") for (int k = 0; k < TW_ROWS; ++k) mine[k] = from[clamp(y + k, p.top, p.bottom) * (long)columns];
  for (uint step = 0; step < steps; ++step) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the previous step has been read
    _Pragma("unroll") for (int k = 0; k < TW_ROWS; ++k) {
      const bool in_strip = y + k >= p.strip_begin && y + k < p.strip_end;
      tile[(y + k) * TW_WIDTH + x] = in_strip ? (TW_T)1 : mine[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    _Pragma("unroll") for (int k = 0; k < TW_ROWS; ++k) mine[k] = tw_stepped(tile, y + k, x, p, w);
  }
  if (x < halo || x >= TW_WIDTH - halo || x > p.right) return;
  to += (long)to_first + top * (long)columns + left + x;
  _Pragma("unroll") for (int k = 0; k < TW_ROWS; ++k) {
    if (y + k >= halo && y + k < TW_HEIGHT - halo && y + k <= p.bottom)
      to[(y + k) * (long)columns] = tw_canonical(mine[k]);
  }
}
