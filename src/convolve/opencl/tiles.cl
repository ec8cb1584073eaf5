// SPDX-License-Identifier: Apache-2.0
// What:   convolve/opencl:tiles: a group makes a tile of results. The pixels under their taps (the tile and a halo) are
//         in local memory, the mask in constant memory, the results of an item in registers: TW_ROWS neighbouring rows
//         of TW_W columns that lie as far apart as the group is wide.
// Order:  one chain per result. Rows of the image are taken in ascending order, and with them the mask's rows.
// Shape:  groups of TW_ACROSS x TW_DOWN items; one barrier. A pixel is read once for TW_ROWS results.
// Limits: local memory for the pixels, constant memory for the mask. With TW_MASK, its number of rows and of columns,
//         all loops are unrolled.
// Twins:  serial.cpp, cuda/tiles.cu.
#define TW_TILE_ROWS (TW_DOWN * TW_ROWS)
#define TW_TILE_COLUMNS (TW_ACROSS * TW_W)
#define TW_LOADED (TW_W + 1)  // a row of the tile, and of the halo

#ifdef TW_MASK
#define TW_MASK_ROWS TW_MASK
#define TW_MASK_COLUMNS TW_MASK
#define TW_UNROLL _Pragma("unroll")
#define TW_HAS_ALL(p) false  // decided for each weight, when the loops are unrolled
#else
#define TW_MASK_ROWS ((int)mask_rows)
#define TW_MASK_COLUMNS ((int)mask_columns)
#define TW_UNROLL
#define TW_HAS_ALL(p) ((p) >= TW_ROWS - 1 && (p) < TW_MASK_ROWS)
#endif

// The row of pixels at `row`, the p-th under the item's taps, belongs to the mask's row p - q for the item's row q.
// With `some`, not every row of the item has one.
static inline void tw_add_row(__local const TW_T* row, __constant const TW_T* mask, int p, uint mask_rows,
                              uint mask_columns, bool some, TW_T (*chains)[TW_W]) {
  TW_UNROLL for (int s = 0; s < TW_MASK_COLUMNS; ++s) {
    TW_T pixels[TW_W];
    _Pragma("unroll") for (int c = 0; c < TW_W; ++c) pixels[c] = row[s + c * TW_ACROSS];
    _Pragma("unroll") for (int q = 0; q < TW_ROWS; ++q) {
      if (!some || (p >= q && p - q < TW_MASK_ROWS)) {
        const TW_T weight = mask[(p - q) * TW_MASK_COLUMNS + s];
        _Pragma("unroll") for (int c = 0; c < TW_W; ++c) chains[q][c] += weight * pixels[c];
      }
    }
  }
}

__kernel __attribute__((reqd_work_group_size(TW_ACROSS, TW_DOWN, 1))) void tw_tiles(
    __global const TW_T* image, ulong image_first, ulong rows, ulong columns, __constant const TW_T* mask,
    ulong mask_first, uint mask_rows, uint mask_columns, __global TW_T* y, ulong y_first, ulong y_rows, ulong y_columns,
    ulong above, ulong left, __local TW_T* pixels, ulong first_tile) {
  const int across = get_local_id(0), down = get_local_id(1);
  const ulong tiles_across = (y_columns + TW_TILE_COLUMNS - 1) / TW_TILE_COLUMNS;
  const ulong tile = first_tile + get_group_id(0);
  const ulong row = tile / tiles_across * TW_TILE_ROWS, column = tile % tiles_across * TW_TILE_COLUMNS;
  const int height = TW_TILE_ROWS + TW_MASK_ROWS - 1, pitch = TW_TILE_COLUMNS + TW_MASK_COLUMNS - 1;
  image += image_first;
  mask += mask_first;
  for (int i = down; i < height; i += TW_DOWN) {
    for (int j = across; j < pitch; j += TW_LOADED * TW_ACROSS) {
      TW_T loaded[TW_LOADED];  // all of them are under way before the first is stored
      _Pragma("unroll") for (int c = 0; c < TW_LOADED; ++c) {
        const int at = j + c * TW_ACROSS;
        loaded[c] = at < pitch ? tw_pixel(image, rows, columns, row + i - above, column + at - left) : (TW_T)0;
      }
      _Pragma("unroll") for (int c = 0; c < TW_LOADED; ++c) {
        const int at = j + c * TW_ACROSS;
        if (at < pitch) pixels[i * pitch + at] = loaded[c];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the pixels are loaded

  TW_T chains[TW_ROWS][TW_W];
  _Pragma("unroll") for (int q = 0; q < TW_ROWS; ++q) {
    _Pragma("unroll") for (int c = 0; c < TW_W; ++c) chains[q][c] = 0;
  }
  __local const TW_T* mine = pixels + down * TW_ROWS * pitch + across;
  TW_UNROLL for (int p = 0; p < TW_ROWS + TW_MASK_ROWS - 1; ++p) {
    if (TW_HAS_ALL(p))
      tw_add_row(mine + p * pitch, mask, p, mask_rows, mask_columns, false, chains);
    else
      tw_add_row(mine + p * pitch, mask, p, mask_rows, mask_columns, true, chains);
  }
  _Pragma("unroll") for (int q = 0; q < TW_ROWS; ++q) {
    const ulong i = row + down * TW_ROWS + q;
    _Pragma("unroll") for (int c = 0; c < TW_W; ++c) {
      const ulong j = column + across + c * TW_ACROSS;
      if (i < y_rows && j < y_columns) y[y_first + i * y_columns + j] = tw_canonical(chains[q][c]);
    }
  }
}
