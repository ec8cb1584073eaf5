// SPDX-License-Identifier: Apache-2.0
// What:   rows times x: tw_rows makes several short rows at once, tw_row one long one. Where there are only a few of
//         these, tw_pieces makes the values of whole tiles of columns, tw_tiles those of whole tiles of these, and
//         tw_finish folds what is left on each level.
// Order:  products are rounded. A row's leaves are the aligned blocks of TW_W products where all rows begin and end on
//         a 16-byte boundary, else single products; a whole tile of a row is an aligned block.
// Shape:  tw_rows: a group takes as many rows as fit its tile. tw_row: one group per row, tile by tile. tw_pieces: one
//         group per piece, rows first, so that x stays in the cache. tw_finish: one group per row.
// Limits: local memory for one tile of elements.
// Twins:  serial.cpp, cuda/variants.cu; embedded after order/operators.cl and order/block_tree.cl.

static inline TW_T tw_unit_product(__global const TW_T* a, __global const TW_T* x) {
  return tw_unit_value(*(__global const TW_V*)a * *(__global const TW_V*)x);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_rows(
    __global const TW_T* a, ulong a_first, ulong stride, __global const TW_T* x, ulong x_first, __global TW_T* y,
    ulong y_first, ulong rows, uint leaves, uint in_units, uint log_pitch, ulong first_tile) {
  __local TW_T nodes[TW_TILE];
  const int me = get_local_id(0), pitch = 1 << log_pitch, most = (int)TW_TILE >> log_pitch;
  const ulong first_row = (first_tile + get_group_id(0)) * most;
  const int mine = (int)min((ulong)most, rows - first_row), end = mine << log_pitch;
  for (int i = me; i < mine * (int)leaves; i += TW_GROUP) {
    const int row = i / (int)leaves, leaf = i - row * (int)leaves;
    __global const TW_T* from = a + a_first + (first_row + row) * stride;
    nodes[(row << log_pitch) + leaf] =
        in_units ? tw_unit_product(from + leaf * TW_W, x + x_first + leaf * TW_W) : from[leaf] * x[x_first + leaf];
  }
  for (int step = 1; 2 * step <= (int)leaves; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the nodes of the level below are stored
    for (int i = (me + 1) * 2 * step - 1; i < end; i += TW_GROUP * 2 * step)
      if ((i & (pitch - 1)) < (int)leaves) nodes[i] = tw_apply(nodes[i - step], nodes[i]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // every node is stored; each block's value lies at its last leaf
  for (int row = me; row < mine; row += TW_GROUP) {
    TW_T prefix = leaves == 0 ? (TW_T)0 : TW_IDENTITY;
    for (int step = pitch; step > 0; step /= 2)
      if (leaves & step) prefix = tw_apply(prefix, nodes[(row << log_pitch) + (int)(leaves & ~(step - 1)) - 1]);
    y[y_first + first_row + row] = tw_canonical(prefix);
  }
}

// The first `count` <= TW_TILE products; all loads of an item are under way before the first product is stored.
static inline void tw_store_products(__global const TW_T* a, __global const TW_T* x, uint count,
                                     __local TW_T* products) {
  if (count == 0) return;
  TW_T product[TW_ITEMS];
  _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) {
    const uint at = min((uint)(q * TW_GROUP + get_local_id(0)), count - 1);
    product[q] = a[at] * x[at];
  }
  _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) {
    const uint at = q * TW_GROUP + get_local_id(0);
    if (at < count) products[at] = product[q];
  }
}

// Elements of A that a group reads once do not drive x out of the cache of the compute unit.
#define TW_PASTED(a, b) a##b
#define TW_AS(type, bits) TW_PASTED(as_, type)(bits)
#ifdef TW_PASSES_CACHE
#define TW_READ_PAST_CACHE "ld.global.nc.L1::no_allocate"
static inline TW_V tw_read_unit(__global const TW_V* from) {
  uint b0, b1, b2, b3;
  asm volatile(TW_READ_PAST_CACHE ".v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(b0), "=r"(b1), "=r"(b2), "=r"(b3)
               : "l"((ulong)from));
  return TW_AS(TW_V, (uint4)(b0, b1, b2, b3));
}
static inline TW_T tw_read_element(__global const TW_T* from) {
#if TW_W == 4
  uint bits;
  asm volatile(TW_READ_PAST_CACHE ".u32 %0, [%1];" : "=r"(bits) : "l"((ulong)from));
#else
  ulong bits;
  asm volatile(TW_READ_PAST_CACHE ".u64 %0, [%1];" : "=l"(bits) : "l"((ulong)from));
#endif
  return TW_AS(TW_T, bits);
}
#else
static inline TW_V tw_read_unit(__global const TW_V* from) { return *from; }
static inline TW_T tw_read_element(__global const TW_T* from) { return *from; }
#endif

// What an item has of a whole tile of a row: units, or elements where the row and x do not both lie on 16-byte
// boundaries. Neighbouring items have neighbouring ones.
typedef union {
  TW_V units[TW_UNITS];
  TW_T elements[TW_ITEMS];
} tw_held;

// Their products: the values of units, or single ones.
typedef union {
  TW_T units[TW_UNITS];
  TW_T elements[TW_ITEMS];
} tw_products;

static inline bool tw_pairs_in_units(ulong a_first, ulong x_first) {
#ifdef TW_IN_UNITS  // known for all rows
  return true;
#else
  return (a_first | x_first) % TW_W == 0;
#endif
}

static inline void tw_load_held(__global const TW_T* from, bool in_units, bool past_cache, tw_held* held) {
  const int me = get_local_id(0);
  if (in_units) {
    __global const TW_V* units = (__global const TW_V*)from + me;
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) held->units[q] =
        past_cache ? tw_read_unit(units + q * TW_GROUP) : units[q * TW_GROUP];
  } else {
    from += me;
    _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) held->elements[q] =
        past_cache ? tw_read_element(from + q * TW_GROUP) : from[q * TW_GROUP];
  }
}

static inline void tw_multiply_held(const tw_held* held, __global const TW_T* x, bool in_units, tw_products* products) {
  const int me = get_local_id(0);
  if (in_units) {
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) products->units[q] =
        tw_unit_value(held->units[q] * ((__global const TW_V*)x)[q * TW_GROUP + me]);
  } else {
    _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) products->elements[q] =
        held->elements[q] * x[q * TW_GROUP + me];
  }
}

// Where product i of a tile lies: units change places within 128 bytes, so that items that each read their own do not
// meet in one bank.
#define TW_PLACE(i) ((i) ^ ((i) >> (TW_LOG_W + 3) & 7) << TW_LOG_W)

// The value of a whole tile from its products, in item 0 only. No barrier is in a condition, where PoCL 5 fails.
static inline TW_T tw_products_value(const tw_products* products, bool in_units, __local TW_V* nodes,
                                     __local TW_T* items, __local TW_T* tops) {
  const int me = get_local_id(0);
  __local TW_T* const single = (__local TW_T*)nodes;
  if (in_units) {
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) single[TW_PAD_UNIT(q * TW_GROUP + me)] = products->units[q];
  } else {
    _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) single[TW_PLACE(q * TW_GROUP + me)] = products->elements[q];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the products are stored
  TW_T mine[TW_UNITS];
  if (in_units) {
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) mine[q] = single[TW_PAD_UNIT(me * TW_UNITS + q)];
  } else {
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) mine[q] =
        tw_unit_value(nodes[TW_PLACE((me * TW_UNITS + q) * TW_W) / TW_W]);
  }
  return tw_group_up(tw_mine_up(mine), items, tops, false);
}

TW_DEFINE_STACK(tw_row, __local)

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_row(__global const TW_T* a, ulong a_first,
                                                                           ulong stride, __global const TW_T* x,
                                                                           ulong x_first, __global TW_T* y,
                                                                           ulong y_first, ulong n, ulong first_tile) {
  __local TW_V nodes[TW_TILE / TW_W];
  __local TW_T items[TW_PADDED_GROUP], tops[TW_TOPS], stack[64], before;
  const uint me = get_local_id(0), tail = (uint)(n % TW_TILE);
  const ulong row = first_tile + get_group_id(0), tiles = n / TW_TILE;
  __global const TW_T* from = a + a_first + row * stride;
  __global const TW_T* with = x + x_first;
  const bool in_units = tw_pairs_in_units(a_first + row * stride, x_first);
  tw_held ahead;  // a row's next tile is under way while the values of one meet
  if (tiles != 0) tw_load_held(from, in_units, true, &ahead);
  for (ulong tile = 0; tile < tiles; ++tile) {
    tw_products products;
    tw_multiply_held(&ahead, with + tile * TW_TILE, in_units, &products);
    if (tile + 1 < tiles) tw_load_held(from + (tile + 1) * TW_TILE, in_units, true, &ahead);
    const TW_T all = tw_products_value(&products, in_units, nodes, items, tops);
    if (me == 0) tw_row_push(stack, tile, all);
  }
  if (me == 0) before = tw_row_fold(stack, tiles, TW_IDENTITY);
  barrier(CLK_LOCAL_MEM_FENCE);  // the prefix before the tail is stored, and the nodes are free
  __local TW_T* rest = (__local TW_T*)nodes;
  tw_store_products(from + tiles * TW_TILE, with + tiles * TW_TILE, tail, rest);
  const TW_T sum = tw_continue(before, rest, (int)tail);
  if (me == 0) y[y_first + row] = tw_canonical(sum);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_pieces(__global const TW_T* a, ulong a_first,
                                                                              ulong stride, __global const TW_T* x,
                                                                              ulong x_first, ulong rows,
                                                                              __global TW_T* values, ulong room,
                                                                              ulong first_tile) {
  __local TW_V nodes[TW_TILE / TW_W];
  __local TW_T items[TW_PADDED_GROUP], tops[TW_TOPS];
  const ulong tile = first_tile + get_group_id(0), row = tile % rows, piece = tile / rows;
  const ulong first = a_first + row * stride;
  const bool in_units = tw_pairs_in_units(first, x_first);
  tw_held held;
  tw_products products;
  tw_load_held(a + first + piece * TW_TILE, in_units, false, &held);
  tw_multiply_held(&held, x + x_first + piece * TW_TILE, in_units, &products);
  const TW_T all = tw_products_value(&products, in_units, nodes, items, tops);
  if (get_local_id(0) == 0) values[row * room + piece] = all;
}

// Whole tiles of a level's values become the values of the next; each row has its own levels, `room` apart.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_tiles(__global TW_T* values, ulong room,
                                                                             ulong from, ulong to, ulong tiles,
                                                                             ulong first_tile) {
  __local TW_T units[TW_PADDED_UNITS], items[TW_PADDED_GROUP], tops[TW_TOPS];
  const ulong tile = first_tile + get_group_id(0), row = tile / tiles, piece = tile % tiles;
  const TW_T value = tw_tile_value(values, row * room + from, tiles * TW_TILE, piece, units, items, tops);
  if (get_local_id(0) == 0) values[row * room + to + piece] = value;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_finish(
    __global const TW_T* a, ulong a_first, ulong stride, __global const TW_T* x, ulong x_first, __global TW_T* y,
    ulong y_first, ulong n, __global const TW_T* values, ulong room, ulong first_tile) {
  __local TW_T nodes[TW_TILE];
  const int log_tile = TW_LOG_GROUP + TW_LOG_ITEMS;
  const ulong row = first_tile + get_group_id(0);
  int level = 0;
  while (n >> (level + 1) * log_tile != 0) ++level;
  TW_T prefix = TW_IDENTITY;
  for (; level >= 0; --level) {
    const ulong count = n >> level * log_tile, tail = count % TW_TILE, first = count - tail;
    if (level == 0)
      tw_store_products(a + a_first + row * stride + first, x + x_first + first, (uint)tail, nodes);
    else
      tw_take(values + row * room + tw_level_first(n, level) + first, (uint)tail, nodes);
    prefix = tw_continue(prefix, nodes, (int)tail);
  }
  if (get_local_id(0) == 0) y[y_first + row] = tw_canonical(prefix);
}
