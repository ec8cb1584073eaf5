// SPDX-License-Identifier: Apache-2.0
// What:   convolve/opencl:blocks, for a mask of TW_MASK rows and columns: a group makes a tile of results, an item a
//         pack of neighbouring columns in TW_ROWS neighbouring rows, which are in registers. A group whose pixels are
//         all in the image, in rows that begin at packs, reads them where they lie: caches have what its items read
//         again. Any other group copies them to local memory first, and zeros for what is beyond the edge.
// Order:  one chain per result. Rows of the image are taken in ascending order, and with them the mask's rows.
// Shape:  groups of TW_ACROSS x TW_DOWN items; all loops over the mask are unrolled.
// Limits: local memory for the pixels; constant memory for the mask.
// Twins:  serial.cpp, cuda/blocks.cuh.
#define TW_TILE_ROWS (TW_DOWN * TW_ROWS)
#define TW_TILE_COLUMNS (TW_ACROSS * TW_W)
#define TW_PACKS(n) (((n) + TW_W - 1) / TW_W)
#define TW_HEIGHT (TW_TILE_ROWS + TW_MASK - 1)
#define TW_PITCH (TW_PACKS(TW_TILE_COLUMNS + TW_MASK - 1) * TW_W)

typedef union {
  TW_V packs[TW_PACKS(TW_W + TW_MASK - 1)];
  TW_T at[TW_PACKS(TW_W + TW_MASK - 1) * TW_W];
} tw_window;
typedef union {
  TW_V all;
  TW_T at[TW_W];
} tw_pack;

// The p-th row of pixels under the item's taps belongs to the mask's row p - q for the item's row q.
static inline void tw_add_row(tw_window pixels, __constant const TW_T* mask, int p, tw_pack* chains) {
  _Pragma("unroll") for (int q = 0; q < TW_ROWS; ++q) {
    if (p >= q && p - q < TW_MASK) {
      _Pragma("unroll") for (int s = 0; s < TW_MASK; ++s) {
        const TW_T weight = mask[(p - q) * TW_MASK + s];
        _Pragma("unroll") for (int c = 0; c < TW_W; ++c) chains[q].at[c] += weight * pixels.at[s + c];
      }
    }
  }
}

// All rows from `from` on, `pitch` apart; a pointer's space is part of its type.
#define TW_ADD_ROWS(space, from, pitch)                                                        \
  _Pragma("unroll") for (int p = 0; p < TW_ROWS + TW_MASK - 1; ++p) {                          \
    tw_window pixels;                                                                          \
    _Pragma("unroll") for (int k = 0; k < TW_PACKS(TW_W + TW_MASK - 1); ++k) pixels.packs[k] = \
        ((space const TW_V*)((from) + p * (pitch)))[k];                                        \
    tw_add_row(pixels, mask, p, chains);                                                       \
  }

static inline bool tw_lies_in(ulong first, ulong count, ulong size) { return first <= size && count <= size - first; }

__kernel __attribute__((reqd_work_group_size(TW_ACROSS, TW_DOWN, 1))) void tw_blocks(
    __global const TW_T* image, ulong image_first, ulong rows, ulong columns, __constant const TW_T* mask,
    ulong mask_first, __global TW_T* y, ulong y_first, ulong y_rows, ulong y_columns, ulong above, ulong left,
    __local TW_V* room, ulong first_tile) {
  const int across = get_local_id(0), down = get_local_id(1);
  const ulong before = (0 - left) % TW_W;  // columns by which tiles begin early, so that their pixels begin at packs
  const ulong tiles_across = (y_columns + before + TW_TILE_COLUMNS - 1) / TW_TILE_COLUMNS;
  const ulong tile = first_tile + get_group_id(0);
  const ulong row = tile / tiles_across * TW_TILE_ROWS, column = tile % tiles_across * TW_TILE_COLUMNS - before;
  const ulong top = row - above, first = column - left;  // far beyond the image where negative
  image += image_first;
  mask += mask_first;

  tw_pack chains[TW_ROWS];
  _Pragma("unroll") for (int q = 0; q < TW_ROWS; ++q) chains[q].all = 0;
  if ((ulong)image % sizeof(TW_V) == 0 && columns % TW_W == 0 && tw_lies_in(top, TW_HEIGHT, rows) &&
      tw_lies_in(first, TW_PITCH, columns)) {
    __global const TW_T* mine = image + (top + down * TW_ROWS) * columns + first + across * TW_W;
    TW_ADD_ROWS(__global, mine, columns)
  } else {
    __local TW_T* pixels = (__local TW_T*)room;
    for (int i = down; i < TW_HEIGHT; i += TW_DOWN) {
      _Pragma("unroll") for (int j = across; j < TW_PITCH; j += TW_ACROSS) pixels[i * TW_PITCH + j] =
          tw_pixel(image, rows, columns, top + i, first + j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the pixels are loaded
    __local const TW_T* mine = pixels + down * TW_ROWS * TW_PITCH + across * TW_W;
    TW_ADD_ROWS(__local, mine, TW_PITCH)
  }

  const ulong j = column + across * TW_W;
  _Pragma("unroll") for (int q = 0; q < TW_ROWS; ++q) {
    const ulong i = row + down * TW_ROWS + q;
    if (i >= y_rows) break;
    _Pragma("unroll") for (int c = 0; c < TW_W; ++c) chains[q].at[c] = tw_canonical(chains[q].at[c]);
    __global TW_T* to = y + y_first + i * y_columns + j;
    if (tw_lies_in(j, TW_W, y_columns) && (ulong)to % sizeof(TW_V) == 0) {
      *(__global TW_V*)to = chains[q].all;
    } else {
      _Pragma("unroll") for (int c = 0; c < TW_W; ++c) if (j + c < y_columns) to[c] = chains[q].at[c];
    }
  }
}
