// SPDX-License-Identifier: Apache-2.0
// What:   matmul/opencl:register_tiles: a group makes a TW_ROWS x TW_COLUMNS tile of C, an item TW_ITEM_ROWS x
//         TW_ITEM_COLUMNS of it in registers. While the tiles of A and B in one half of local memory are multiplied,
//         the next ones come through registers into the other half.
// Order:  one chain per element, all k's by the same item.
// Shape:  groups of TW_GROUP items; one barrier per step of TW_DEPTH.
// Limits: local memory for twice one tile of A and one of B; an item's rows and columns are whole 16-byte units.
// Twins:  serial.cpp.
#define TW_DEPTH (TW_DEPTH_UNITS * TW_W)  // k's of a step
#define TW_ROW_UNITS (TW_ITEM_ROWS / TW_W)
#define TW_COLUMN_UNITS (TW_ITEM_COLUMNS / TW_W)
#define TW_ITEMS_DOWN (TW_ROWS / TW_ITEM_ROWS)
#define TW_ITEMS_ACROSS (TW_COLUMNS / TW_ITEM_COLUMNS)
// In local memory, in units: a row holds one k. A's rows have one unit more, so that the columns that are written do
// not lie in one bank.
#define TW_A_PITCH (TW_ROWS / TW_W + 1)
#define TW_B_PITCH (TW_COLUMNS / TW_W)
#define TW_A_LOADS (TW_ROWS * TW_DEPTH_UNITS / TW_GROUP)  // units that an item loads in a step
#define TW_B_LOADS (TW_DEPTH * TW_B_PITCH / TW_GROUP)

typedef struct {
  __global const TW_T* first;
  ulong stride;
  bool in_units;  // rows start on 16-byte boundaries
} tw_matrix;

static inline void tw_unpack(TW_V unit, TW_T* to) {
  to[0] = unit.s0;
  to[1] = unit.s1;
#if TW_W == 4
  to[2] = unit.s2;
  to[3] = unit.s3;
#endif
}

// Rows beyond the last are read as the last: what is made from them is not written.
static inline void tw_load_a(tw_matrix a, ulong row, ulong rows, ulong k, ulong depth, TW_V* loaded) {
  const int me = get_local_id(0);
  const ulong at = k + me % TW_DEPTH_UNITS * TW_W;
  const bool in_units = a.in_units && k + TW_DEPTH <= depth;
  _Pragma("unroll") for (int q = 0; q < TW_A_LOADS; ++q) {
    const ulong i = min(row + (me + q * TW_GROUP) / TW_DEPTH_UNITS, rows - 1);
    __global const TW_T* source = a.first + i * a.stride;
    loaded[q] = in_units ? *(__global const TW_V*)(source + at) : tw_unit_at_end(source, at, depth);
  }
}

static inline void tw_load_b(tw_matrix b, ulong column, ulong columns, ulong k, ulong depth, TW_V* loaded) {
  const int me = get_local_id(0);
  const bool in_units = b.in_units && k + TW_DEPTH <= depth && column + TW_COLUMNS <= columns;
  _Pragma("unroll") for (int q = 0; q < TW_B_LOADS; ++q) {
    const ulong i = k + (me + q * TW_GROUP) / TW_B_PITCH, at = column + (me + q * TW_GROUP) % TW_B_PITCH * TW_W;
    __global const TW_T* source = b.first + i * b.stride;
    if (in_units)
      loaded[q] = *(__global const TW_V*)(source + at);
    else
      loaded[q] = i < depth ? tw_unit_at_end(source, at, columns) : (TW_V)(TW_ABSENT_B);
  }
}

// A's units run along k and are transposed here.
static inline void tw_store_a(const TW_V* loaded, __local TW_T* tile) {
  const int me = get_local_id(0);
  _Pragma("unroll") for (int q = 0; q < TW_A_LOADS; ++q) {
    TW_T values[TW_W];
    tw_unpack(loaded[q], values);
    _Pragma("unroll") for (int k = 0; k < TW_W; ++k)
        tile[(me % TW_DEPTH_UNITS * TW_W + k) * (TW_A_PITCH * TW_W) + (me + q * TW_GROUP) / TW_DEPTH_UNITS] = values[k];
  }
}

static inline void tw_store_b(const TW_V* loaded, __local TW_V* tile) {
  _Pragma("unroll") for (int q = 0; q < TW_B_LOADS; ++q) tile[get_local_id(0) + q * TW_GROUP] = loaded[q];
}

// What the item needs for one k. Its rows are TW_ROW_UNITS units that lie TW_ITEMS_DOWN units apart, so that neighbours
// read neighbouring units; its columns likewise.
static inline void tw_read(__local const TW_V* a_tile, __local const TW_V* b_tile, int k, int down, int across, TW_T* a,
                           TW_V* b) {
  _Pragma("unroll") for (int q = 0; q < TW_ROW_UNITS; ++q)
      tw_unpack(a_tile[k * TW_A_PITCH + q * TW_ITEMS_DOWN + down], a + q * TW_W);
  _Pragma("unroll") for (int q = 0; q < TW_COLUMN_UNITS; ++q) b[q] =
      b_tile[k * TW_B_PITCH + q * TW_ITEMS_ACROSS + across];
}

// One step of the item's chains; the next k is read while this one is multiplied.
static inline void tw_multiply(__local const TW_V* a_tile, __local const TW_V* b_tile, int down, int across,
                               TW_V (*chains)[TW_COLUMN_UNITS]) {
  TW_T a[2][TW_ITEM_ROWS];
  TW_V b[2][TW_COLUMN_UNITS];
  tw_read(a_tile, b_tile, 0, down, across, a[0], b[0]);
  _Pragma("unroll") for (int k = 0; k < TW_DEPTH; ++k) {
    if (k + 1 < TW_DEPTH) tw_read(a_tile, b_tile, k + 1, down, across, a[(k + 1) % 2], b[(k + 1) % 2]);
    _Pragma("unroll") for (int r = 0; r < TW_ITEM_ROWS; ++r) {
      _Pragma("unroll") for (int q = 0; q < TW_COLUMN_UNITS; ++q) chains[r][q] =
          tw_multiply_add((TW_V)(a[k % 2][r]), b[k % 2][q], chains[r][q]);
    }
  }
}

static inline void tw_write_unit(__global TW_T* row, ulong column, ulong columns, TW_V unit, bool in_units) {
  TW_T values[TW_W];
  tw_unpack(unit, values);
  _Pragma("unroll") for (int e = 0; e < TW_W; ++e) values[e] = tw_canonical(values[e]);
  if (in_units && column + TW_W <= columns) {
#if TW_W == 4
    *(__global TW_V*)(row + column) = (TW_V)(values[0], values[1], values[2], values[3]);
#else
    *(__global TW_V*)(row + column) = (TW_V)(values[0], values[1]);
#endif
  } else {
    _Pragma("unroll") for (int e = 0; e < TW_W; ++e) {
      if (column + e < columns) row[column + e] = values[e];
    }
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_register_tiles(
    __global const TW_T* a, ulong a_first, ulong lda, __global const TW_T* b, ulong b_first, ulong ldb,
    __global TW_T* c, ulong c_first, ulong ldc, ulong rows, ulong columns, ulong depth, ulong first_tile) {
  __local TW_V a_tiles[2][TW_DEPTH * TW_A_PITCH], b_tiles[2][TW_DEPTH * TW_B_PITCH];
  const ulong2 place =
      tw_place(first_tile + get_group_id(0), (rows + TW_ROWS - 1) / TW_ROWS, (columns + TW_COLUMNS - 1) / TW_COLUMNS);
  const ulong row = place.s0 * TW_ROWS, column = place.s1 * TW_COLUMNS;
  // 32 consecutive items are 4 down and 8 across, in pairs one above the other: any 8 in a row then read 2 units of A
  // and 4 of B. On an H200 that is 1% to 15% faster than rows of 8, most for small tiles.
  const int me = get_local_id(0);
  const int across = me / 2 % 8 + me / 32 % (TW_ITEMS_ACROSS / 8) * 8;
  const int down = me % 2 + me / 16 % 2 * 2 + me / 32 / (TW_ITEMS_ACROSS / 8) * 4;
  const tw_matrix from_a = {a + a_first, lda, a_first % TW_W == 0 && lda % TW_W == 0};
  const tw_matrix from_b = {b + b_first, ldb, b_first % TW_W == 0 && ldb % TW_W == 0};

  TW_V chains[TW_ITEM_ROWS][TW_COLUMN_UNITS], next_a[TW_A_LOADS], next_b[TW_B_LOADS];
  _Pragma("unroll") for (int r = 0; r < TW_ITEM_ROWS; ++r) {
    _Pragma("unroll") for (int q = 0; q < TW_COLUMN_UNITS; ++q) chains[r][q] = (TW_V)(0);
  }
  tw_load_a(from_a, row, rows, 0, depth, next_a);
  tw_load_b(from_b, column, columns, 0, depth, next_b);
  tw_store_a(next_a, (__local TW_T*)a_tiles[0]);
  tw_store_b(next_b, b_tiles[0]);
  barrier(CLK_LOCAL_MEM_FENCE);  // the first tiles are loaded
  int now = 0;
  for (ulong k = 0; k < depth; k += TW_DEPTH) {
    const bool more = k + TW_DEPTH < depth;
    if (more) {
      tw_load_a(from_a, row, rows, k + TW_DEPTH, depth, next_a);
      tw_load_b(from_b, column, columns, k + TW_DEPTH, depth, next_b);
    }
    tw_multiply(a_tiles[now], b_tiles[now], down, across, chains);
    now ^= 1;
    if (more) {
      tw_store_a(next_a, (__local TW_T*)a_tiles[now]);
      tw_store_b(next_b, b_tiles[now]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the next tiles are loaded, these are done with
  }

  const bool in_units = c_first % TW_W == 0 && ldc % TW_W == 0;
  _Pragma("unroll") for (int r = 0; r < TW_ITEM_ROWS; ++r) {
    const ulong i = row + (r / TW_W * TW_ITEMS_DOWN + down) * TW_W + r % TW_W;
    if (i < rows) {
      _Pragma("unroll") for (int q = 0; q < TW_COLUMN_UNITS; ++q) tw_write_unit(
          c + c_first + i * ldc, column + (q * TW_ITEMS_ACROSS + across) * TW_W, columns, chains[r][q], in_units);
    }
  }
}
