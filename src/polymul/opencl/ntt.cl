// SPDX-License-Identifier: Apache-2.0
// What:   polymul/opencl:ntt: products by number-theoretic transforms modulo three or six primes below 2^30.
// Order:  none: exact. A word holds any number of its class up to 4 p; bounds are noted where values grow.
// Shape:  columns: 256 rows of a block, 16 columns per group, through 8 levels, 16 rows per item at a time; rows: tiles
//         of 4096 neighbours through the other levels, the products of leaves, and back; columns again. No element
//         changes its place.
// Limits: 43 KB of local memory; TW_FIELDS primes below 2^30.
// Twins:  cuda/ntt.cu, which says more.
#define TW_NTT_GROUP 256
#define TW_LINES 16  // rows that an item holds
#define TW_COLUMNS 16
#define TW_NODES 256  // of a column tile's roots; twice as many of a row tile's
#define TW_NTT_TILE 4096
#define TW_LEAF 8
#define TW_LOG_TABLE 12
#define TW_TABLE (1 << TW_LOG_TABLE)
#define TW_UNROLL _Pragma("unroll")

// These are laid out like word_field and ntt_sums.
typedef struct {
  uint value, quotient;
} tw_word_factor;

typedef struct {
  uint p, twice, inverse, minus_radix, minus_radix_2, offset;
  tw_word_factor one, radix, inverse_of[6];
  uint of_bit[2][24];
} tw_field;

typedef struct {
  tw_word_factor scale[6];
  ulong weight[6];
  ulong all;
} tw_sums;

// Below 2 p, for any y.
static inline uint tw_times(uint y, tw_word_factor by, uint p) { return y * by.value - mul_hi(y, by.quotient) * p; }

// Below p where x is below 2 p.
static inline uint tw_lower(uint x, uint p) { return min(x, x - p); }

// x / 2^32 modulo p, below x / 2^32 + p.
static inline uint tw_montgomery(ulong x, __global const tw_field* f) {
  return (uint)(x >> 32) - mul_hi((uint)x * f->inverse, f->p) + f->p;
}

static inline void tw_forward(uint* x, __local const tw_word_factor* roots, uint node, uint done,
                              __global const tw_field* f) {
  TW_UNROLL for (uint level = 0; level < 4; ++level) {
    if (level < done) continue;
    const uint half_rows = TW_LINES >> (level + 1);
    TW_UNROLL for (uint pair = 0; pair < TW_LINES / 2; ++pair) {
      const uint block = pair / half_rows, i = pair + block * half_rows;
      const uint u = tw_lower(x[i], f->twice), v = tw_times(x[i + half_rows], roots[(node << level) + block], f->p);
      x[i] = u + v;
      x[i + half_rows] = u - v + f->twice;
    }
  }
}

static inline void tw_backward(uint* x, __local const tw_word_factor* roots, uint node, uint done,
                               __global const tw_field* f) {
  TW_UNROLL for (uint up = 1; up <= 4; ++up) {
    const uint level = 4 - up, half_rows = 1u << (up - 1);
    if (level < done) continue;
    TW_UNROLL for (uint pair = 0; pair < TW_LINES / 2; ++pair) {
      const uint block = pair / half_rows, i = pair + block * half_rows;
      const uint u = x[i], v = x[i + half_rows];
      x[i] = tw_lower(u + v, f->twice);
      x[i + half_rows] = tw_times(u - v + f->twice, roots[(node << level) + block], f->p);
    }
  }
}

// Entry k of the first table is r[k], of the second one r[4096 k], for each field forward, then backward.
__kernel __attribute__((reqd_work_group_size(TW_NTT_GROUP, 1, 1))) void tw_fill_tables(__global const tw_field* fields,
                                                                                       __global uint* tables,
                                                                                       ulong first_tile) {
  const uint at = (uint)(first_tile + get_group_id(0)) * TW_NTT_GROUP + get_local_id(0);
  const uint entry = at % TW_TABLE, part = at / TW_TABLE, high = part % 2, backward = part / 2 % 2;
  __global const tw_field* f = &fields[part / 4];
  uint form = f->radix.value;  // of 1
  for (uint bit = 0; entry >> bit != 0; ++bit) {
    if ((entry >> bit & 1) != 0)
      form = tw_lower(tw_montgomery((ulong)form * f->of_bit[backward][bit + high * TW_LOG_TABLE], f), f->p);
  }
  tables[at] = form;
}

// The roots of the first levels below block `tile` of its level, as a tree in an array from node 1 on.
static inline void tw_load_roots(__local tw_word_factor* to, uint nodes, __global const uint* tables, uint k,
                                 uint backward, ulong tile, __global const tw_field* f) {
  __global const uint* low = tables + (2 * k + backward) * 2 * TW_TABLE;
  for (uint node = get_local_id(0); node < nodes; node += TW_NTT_GROUP) {
    if (node == 0) continue;
    const uint level = 31 - clz(node);
    const ulong root = (tile << level) + (node - (1u << level));
    const ulong both = (ulong)low[root % TW_TABLE] * low[TW_TABLE + (root >> TW_LOG_TABLE)];
    const uint form = tw_lower(tw_montgomery(both, f), f->p);
    to[node] = (tw_word_factor){tw_lower(tw_montgomery(form, f), f->p), 0 - form * f->inverse};
  }
}

// Columns: where a group's tile lies. An item has rows `row` + 16 i before the exchange, 16 `row` + i after it.
typedef struct {
  ulong block, first, stride;
  uint column, row;
} tw_column_tile;

static inline tw_column_tile tw_column_tile_at(ulong tile, ulong stride) {
  const ulong groups = stride / TW_COLUMNS, block = tile / groups;
  const uint me = get_local_id(0);
  return (tw_column_tile){block, block * TW_NODES * stride + tile % groups * TW_COLUMNS, stride, me % TW_COLUMNS,
                          me / TW_COLUMNS};
}

#define TW_EARLY(t, i) ((t).first + ((t).row + TW_LINES * (i)) * (t).stride + (t).column)
#define TW_LATE(t, i) ((t).first + (TW_LINES * (t).row + (i)) * (t).stride + (t).column)
// With 16 words of padding per 16 rows.
#define TW_COLUMN_WORDS (TW_NTT_TILE + TW_NODES)
#define TW_CELL(row, column) (((row) + (row) / TW_LINES) * TW_COLUMNS + (column))

static inline void tw_columns_down(uint* x, __local const tw_word_factor* roots, __local uint* cells, tw_column_tile t,
                                   uint done, __global const tw_field* f) {
  barrier(CLK_LOCAL_MEM_FENCE);  // the roots are loaded
  tw_forward(x, roots, 1, done, f);
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) cells[TW_CELL(t.row + TW_LINES * i, t.column)] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);  // and so is the tile
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = cells[TW_CELL(TW_LINES * t.row + i, t.column)];
  tw_forward(x, roots, TW_LINES + t.row, 0, f);
}

static inline void tw_columns_up(uint* x, __local const tw_word_factor* roots, __local uint* cells, tw_column_tile t,
                                 __global const tw_field* f) {
  barrier(CLK_LOCAL_MEM_FENCE);  // the roots are loaded
  tw_backward(x, roots, TW_LINES + t.row, 0, f);
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) cells[TW_CELL(TW_LINES * t.row + i, t.column)] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);  // and so is the tile
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = cells[TW_CELL(t.row + TW_LINES * i, t.column)];
  tw_backward(x, roots, 1, 0, f);
}

// Below 4 p.
static inline uint tw_residue_of(long x, __global const tw_field* f) {
  const uint sum = tw_times((uint)(x >> 32), f->radix, f->p) + tw_times((uint)x, f->one, f->p);
  return tw_lower(sum, f->twice) + (x < 0 ? f->minus_radix_2 : 0);
}

#ifdef TW_MODULAR
#define tw_number_of(value, modulus) ((long)tw_factor_of(value, modulus))
#else
#define tw_number_of(value, modulus) tw_signed(value)
#endif

__kernel __attribute__((reqd_work_group_size(TW_NTT_GROUP, 1, 1))) void tw_first_columns(
    __global const tw_field* fields, __global const uint* tables, uint log, __global uint* data, __global const TW_T* a,
    ulong a_first, ulong n, __global const TW_T* b, ulong b_first, ulong m, ulong modulus, ulong first_tile) {
  __local tw_word_factor roots[TW_NODES];
  __local uint cells[TW_COLUMN_WORDS];
  const ulong points = 1ul << log, tiles = points / TW_NTT_TILE, tile = first_tile + get_group_id(0);
  const uint k = tile / tiles % TW_FIELDS, factor = tile / tiles / TW_FIELDS;
  __global const tw_field* f = &fields[k];
  __global const TW_T* from = factor == 0 ? a + a_first : b + b_first;
  const ulong count = factor == 0 ? n : m;
  const tw_column_tile t = tw_column_tile_at(tile % tiles, points / TW_NODES);
  // The first level takes x modulo x^n - 1 and x^n + 1, which are equal where the upper half of x is zero.
  const bool halved = count <= points / 2;
  uint x[TW_LINES];
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) {
    const ulong at = TW_EARLY(t, i);
    if (i >= TW_LINES / 2 && halved)
      x[i] = x[i - TW_LINES / 2];
    else
      x[i] = at < count ? tw_residue_of(tw_number_of(from[at], modulus), f) : 0;
  }
  tw_load_roots(roots, TW_NODES, tables, k, 0, 0, f);
  tw_columns_down(x, roots, cells, t, halved ? 1 : 0, f);
  data += (factor * TW_FIELDS + k) * points;
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) data[TW_LATE(t, i)] = x[i];
}

__kernel __attribute__((reqd_work_group_size(TW_NTT_GROUP, 1, 1))) void tw_columns_down_again(
    __global const tw_field* fields, __global const uint* tables, uint log, __global uint* data, ulong stride,
    ulong first_tile) {
  __local tw_word_factor roots[TW_NODES];
  __local uint cells[TW_COLUMN_WORDS];
  const ulong points = 1ul << log, tiles = points / TW_NTT_TILE, tile = first_tile + get_group_id(0);
  const uint k = tile / tiles % TW_FIELDS;
  __global const tw_field* f = &fields[k];
  const tw_column_tile t = tw_column_tile_at(tile % tiles, stride);
  data += tile / tiles * points;
  uint x[TW_LINES];
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = data[TW_EARLY(t, i)];
  tw_load_roots(roots, TW_NODES, tables, k, 0, t.block, f);
  tw_columns_down(x, roots, cells, t, 0, f);
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) data[TW_LATE(t, i)] = x[i];
}

__kernel __attribute__((reqd_work_group_size(TW_NTT_GROUP, 1, 1))) void tw_columns_up_again(
    __global const tw_field* fields, __global const uint* tables, uint log, __global uint* data, ulong stride,
    ulong first_tile) {
  __local tw_word_factor roots[TW_NODES];
  __local uint cells[TW_COLUMN_WORDS];
  const ulong points = 1ul << log, tiles = points / TW_NTT_TILE, tile = first_tile + get_group_id(0);
  const uint k = tile / tiles;
  __global const tw_field* f = &fields[k];
  const tw_column_tile t = tw_column_tile_at(tile % tiles, stride);
  data += k * points;
  uint x[TW_LINES];
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = data[TW_LATE(t, i)];
  tw_load_roots(roots, TW_NODES, tables, k, 1, t.block, f);
  tw_columns_up(x, roots, cells, t, f);
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) data[TW_EARLY(t, i)] = x[i];
}

// The coefficient with these digits in mixed radix.
static inline long tw_value_of(const uint* digit, const tw_sums* sums, uint last_prime, ulong modulus) {
#ifdef TW_MODULAR
  ulong2 sum = (ulong2)(0);
  TW_UNROLL for (uint k = 0; k < TW_FIELDS; ++k) {
    const ulong low = sums->weight[k] * digit[k];
    sum.s0 += low;
    sum.s1 += mul_hi(sums->weight[k], (ulong)digit[k]) + (sum.s0 < low ? 1 : 0);
  }
  return tw_coefficient_of((ulong2)(sum.s0, sum.s1 % modulus), modulus);
#else
  ulong sum = 0;
  TW_UNROLL for (uint k = 0; k < TW_FIELDS; ++k) sum += sums->weight[k] * digit[k];
  // Numbers have far fewer bits than the product of all primes.
  return (long)(digit[TW_FIELDS - 1] > last_prime / 2 ? sum - sums->all : sum);
#endif
}

// Garner's algorithm (Knuth, TAOCP 2, 4.3.2).
__kernel __attribute__((reqd_work_group_size(TW_NTT_GROUP, 1, 1))) void tw_last_columns(
    __global const tw_field* fields, __global const uint* tables, uint log, __global const uint* data, __global long* c,
    ulong c_first, ulong length, ulong modulus, tw_sums sums, ulong first_tile) {
  __local tw_word_factor roots[TW_NODES];
  __local uint cells[TW_COLUMN_WORDS];
  const ulong points = 1ul << log;
  const tw_column_tile t = tw_column_tile_at(first_tile + get_group_id(0), points / TW_NODES);
  uint digit[TW_LINES][TW_FIELDS];
  TW_UNROLL for (uint k = 0; k < TW_FIELDS; ++k) {
    __global const tw_field* f = &fields[k];
    uint x[TW_LINES];
    TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = data[k * points + TW_LATE(t, i)];
    tw_load_roots(roots, TW_NODES, tables, k, 1, 0, f);
    tw_columns_up(x, roots, cells, t, f);
    barrier(CLK_LOCAL_MEM_FENCE);  // all have used the roots and the tile
    TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) {
      uint rest = tw_times(x[i], sums.scale[k], f->p);
      TW_UNROLL for (uint j = 0; j < k; ++j) rest = tw_times(rest + f->offset - digit[i][j], f->inverse_of[j], f->p);
      digit[i][k] = tw_lower(rest, f->p);
    }
  }
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) {
    const ulong at = TW_EARLY(t, i);
    if (at < length) c[c_first + at] = tw_value_of(digit[i], &sums, fields[TW_FIELDS - 1].p, modulus);
  }
}

// Rows.

// With a word of padding for each item's neighbours.
#define TW_PLACE(i) ((i) + (i) / TW_LINES)
#define TW_ROW_WORDS TW_PLACE(TW_NTT_TILE)

// a = a b modulo x^8 - root, divided by 2^32; `form` is the root's. Enters with less than p, leaves with less than 2 p.
static inline void tw_multiply_leaves(uint* a, const uint* b, uint form, __global const tw_field* f) {
  uint product[TW_LEAF];
  TW_UNROLL for (uint k = 0; k < TW_LEAF; ++k) {
    ulong over = 0, sum = 0;
    TW_UNROLL for (uint i = k + 1; i < TW_LEAF; ++i) over += (ulong)a[i] * b[TW_LEAF + k - i];
    TW_UNROLL for (uint i = 0; i <= k; ++i) sum += (ulong)a[i] * b[k - i];
    if (k + 1 < TW_LEAF) sum += (ulong)form * tw_montgomery(over, f);  // at most 10.6 p^2 in all
    product[k] = tw_lower(tw_montgomery(sum, f), f->twice);
  }
  TW_UNROLL for (uint k = 0; k < TW_LEAF; ++k) a[k] = product[k];
}

// This item's 16 neighbours through the level above the leaves, to numbers below p.
static inline void tw_load_leaves(uint* x, __local const uint* words, tw_word_factor root, __global const tw_field* f) {
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = words[TW_PLACE(get_local_id(0) * TW_LINES + i)];
  TW_UNROLL for (uint i = 0; i < TW_LEAF; ++i) {
    const uint u = tw_lower(x[i], f->twice), v = tw_times(x[i + TW_LEAF], root, f->p);
    x[i] = tw_lower(tw_lower(u + v, f->twice), f->p);
    x[i + TW_LEAF] = tw_lower(tw_lower(u - v + f->twice, f->twice), f->p);
  }
}

static inline void tw_multiply_neighbours(__local uint* a_words, __local const uint* b_words, tw_word_factor down,
                                          tw_word_factor up, __global const tw_field* f) {
  uint a[TW_LINES], b[TW_LINES];
  tw_load_leaves(a, a_words, down, f);
  tw_load_leaves(b, b_words, down, f);
  const uint form = 0 - down.quotient * f->p;  // what the division of root 2^32 by p leaves
  tw_multiply_leaves(a, b, form, f);
  tw_multiply_leaves(a + TW_LEAF, b + TW_LEAF, f->p - form, f);
  TW_UNROLL for (uint i = 0; i < TW_LEAF; ++i) {
    const uint u = a[i], v = a[i + TW_LEAF];
    a[i] = tw_lower(u + v, f->twice);
    a[i + TW_LEAF] = tw_times(u - v + f->twice, up, f->p);
  }
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) a_words[TW_PLACE(get_local_id(0) * TW_LINES + i)] = a[i];
}

// The columns have done the first `done` levels of the tile's nine.
__kernel __attribute__((reqd_work_group_size(TW_NTT_GROUP, 1, 1))) void tw_multiply_rows(
    __global const tw_field* fields, __global const uint* tables, uint log, __global uint* data, uint done,
    ulong first_tile) {
  __local tw_word_factor down[2 * TW_NODES], up[2 * TW_NODES];
  __local uint words[2][TW_ROW_WORDS];
  const uint me = get_local_id(0), block = me / TW_LINES, inner = block * TW_NTT_GROUP + me % TW_LINES;
  const ulong points = 1ul << log, tiles = points / TW_NTT_TILE, tile = first_tile + get_group_id(0);
  const uint k = tile / tiles, done_later = done < 4 ? 0 : done - 4;
  __global const tw_field* f = &fields[k];
  tw_load_roots(down, 2 * TW_NODES, tables, k, 0, tile % tiles, f);
  tw_load_roots(up, 2 * TW_NODES, tables, k, 1, tile % tiles, f);
  barrier(CLK_LOCAL_MEM_FENCE);  // the roots are loaded
  data += tile * TW_NTT_TILE;
  uint x[TW_LINES];
  for (uint factor = 0; factor < 2; ++factor) {
    __global const uint* from = data + factor * TW_FIELDS * points;
    TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = from[me + i * TW_NTT_GROUP];
    tw_forward(x, down, 1, done, f);
    TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) words[factor][TW_PLACE(me + i * TW_NTT_GROUP)] = x[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the first levels are done
  for (uint factor = 0; factor < 2; ++factor) {
    TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = words[factor][TW_PLACE(inner + i * TW_LINES)];
    tw_forward(x, down, TW_LINES + block, done_later, f);
    TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) words[factor][TW_PLACE(inner + i * TW_LINES)] = x[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // blocks of 16 are left
  tw_multiply_neighbours(words[0], words[1], down[TW_NTT_GROUP + me], up[TW_NTT_GROUP + me], f);
  barrier(CLK_LOCAL_MEM_FENCE);  // they are multiplied
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = words[0][TW_PLACE(inner + i * TW_LINES)];
  tw_backward(x, up, TW_LINES + block, done_later, f);
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) words[0][TW_PLACE(inner + i * TW_LINES)] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);  // the first levels are left
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) x[i] = words[0][TW_PLACE(me + i * TW_NTT_GROUP)];
  tw_backward(x, up, 1, done, f);
  TW_UNROLL for (uint i = 0; i < TW_LINES; ++i) data[me + i * TW_NTT_GROUP] = x[i];
}
