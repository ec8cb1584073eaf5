// SPDX-License-Identifier: Apache-2.0
// What:   polymul/opencl:tiles: a group makes a tile of neighbouring coefficients, an item TW_ITEMS of them in
//         registers. A step is TW_STEP i's: their a's, and the b's that the tile needs with them, in local memory. For
//         TW_ITEMS i's in a row an item needs 2 TW_ITEMS - 1 b's, half of them the same as for the i's before.
// Order:  one chain per coefficient, all i's by the same item.
// Shape:  groups of TW_GROUP items; two barriers per step. There may be several products: their factors follow each
//         other, their coefficients are n + m apart. Of each, the `count` coefficients from `begin` on are made.
// Limits: local memory for a step; a step is a multiple of 2 TW_ITEMS.
// Twins:  serial.cpp.
#define TW_STEP TW_GROUP
// The b's lie in rows of TW_ITEMS, which an item reads downwards, one at a time. On a GPU, padding keeps the
// rows of neighbours out of one bank. On a CPU, with TW_LANES (TW_ITEMS as a plain number), rows are unpadded, so that
// a vector may be read across them.
#ifdef TW_LANES
#define TW_PADDING 0
#else
#define TW_PADDING 1
#endif
#define TW_ROWS ((TW_TILE + TW_STEP) / TW_ITEMS)
#define TW_PITCH (TW_ITEMS + TW_PADDING)
#define TW_PADDED(i) ((i) + (i) / TW_ITEMS * TW_PADDING)

// What an item needs to know of TW_ITEMS i's in a row.
typedef struct {
  __local const tw_factor *a, *b;  // the a's; the lower one of two rows of b's
  long ahead;                      // k - i of the item's first coefficient and the first i
  long left;                       // n - i
  long m;
  ulong modulus;
} tw_block;

static inline void tw_load(__global const TW_T* a, ulong i, ulong n, __global const TW_T* b, ulong first, ulong m,
                           ulong modulus, __local tw_factor* a_step, __local tw_factor* b_rows) {
  const uint me = get_local_id(0);
  a_step[me] = i + me < n ? tw_factor_of(a[i + me], modulus) : 0;
  for (uint at = me; at < TW_TILE + TW_STEP; at += TW_GROUP) {
    const ulong j = first - i - TW_STEP + at;  // wraps far beyond m if negative
    b_rows[TW_PADDED(at)] = j < m ? tw_factor_of(b[j], modulus) : 0;
  }
}

static inline void tw_read_row(__local const tw_factor* row, tw_factor* b) {
  _Pragma("unroll") for (int j = 0; j < TW_ITEMS; ++j) b[j] = row[j];
}

#if TW_FLOAT
static inline bool tw_is_whole(tw_block x) {
  return x.left >= TW_ITEMS && x.ahead >= TW_ITEMS - 1 && x.ahead + TW_ITEMS - 1 < x.m;
}

// Some of the products belong to no chain: adding the zeros in their place would turn infinities into NaNs.
static inline void tw_multiply_some(tw_block x, tw_chain* chains) {
  for (int q = 0; q < TW_ITEMS && q < x.left; ++q) {
    _Pragma("unroll") for (int r = 0; r < TW_ITEMS; ++r) {
      const tw_chain next = tw_add_product(chains[r], x.a[q], x.b[TW_PADDED(TW_ITEMS + r - q)], x.modulus);
      chains[r] = (ulong)(x.ahead + r - q) < (ulong)x.m ? next : chains[r];
    }
  }
}
#else
// Products with the zeros beyond the factors change nothing.
#define tw_is_whole(x) true
#define tw_multiply_some(x, chains)
#endif

#ifdef TW_LANES
#define TW_JOIN_TEXTS(a, b) a##b
#define TW_JOIN(a, b) TW_JOIN_TEXTS(a, b)
#define tw_read_lanes(from) TW_JOIN(vload, TW_LANES)(0, from)
#if TW_FLOAT
typedef TW_JOIN(TW_T, TW_LANES) tw_lanes;
#define tw_add_lanes(sums, a, b) fma((tw_lanes)(a), b, sums)
#elif TW_W == 4
typedef TW_JOIN(ulong, TW_LANES) tw_lanes;
#define tw_add_lanes(sums, a, b) \
  (sums + (ulong)tw_signed(a) * TW_JOIN(convert_ulong, TW_LANES)(TW_JOIN(as_int, TW_LANES)(b)))
#else
typedef TW_JOIN(ulong, TW_LANES) tw_lanes;
#define tw_add_lanes(sums, a, b) (sums + (a) * (b))
#endif

// The chains are the lanes of a vector; compilers for CPUs do not vectorise the scalar form.
static inline void tw_multiply_all(tw_block x, const tw_factor* low, const tw_factor* high, tw_chain* chains) {
  tw_lanes sums = tw_read_lanes(chains);
  _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) sums =
      tw_add_lanes(sums, x.a[q], tw_read_lanes(x.b + TW_ITEMS - q));
  TW_JOIN(vstore, TW_LANES)(sums, 0, chains);
}
#else
static inline void tw_multiply_all(tw_block x, const tw_factor* low, const tw_factor* high, tw_chain* chains) {
  _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) {
    const tw_factor a = x.a[q];
    _Pragma("unroll") for (int r = 0; r < TW_ITEMS; ++r) chains[r] =
        tw_add_product(chains[r], a, r < q ? low[TW_ITEMS + r - q] : high[r - q], x.modulus);
  }
}
#endif

// TW_ITEMS i's for the item's chains. Takes the lower row of b's into `low`; `high` is the row above.
static inline void tw_multiply(tw_block x, tw_factor* low, const tw_factor* high, tw_chain* chains) {
  tw_read_row(x.b, low);
  if (x.left <= 0 || x.ahead + TW_ITEMS - 1 < 0 || x.ahead - (TW_ITEMS - 1) >= x.m) return;
  if (tw_is_whole(x))
    tw_multiply_all(x, low, high, chains);
  else
    tw_multiply_some(x, chains);
}

static inline tw_block tw_next(tw_block x) {
  x.a += TW_ITEMS;
  x.b -= TW_PITCH;
  x.ahead -= TW_ITEMS;
  x.left -= TW_ITEMS;
  return x;
}

// All i's of a step. Two rows alternate, so that none is moved from register to register.
static inline void tw_multiply_step(tw_block x, tw_chain* chains) {
  tw_factor even[TW_ITEMS], odd[TW_ITEMS];
  tw_read_row(x.b + TW_PITCH, odd);
  for (int i = 0; i < TW_STEP; i += 2 * TW_ITEMS) {
    tw_multiply(x, even, odd, chains);
    x = tw_next(x);
    tw_multiply(x, odd, even, chains);
    x = tw_next(x);
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_coefficient_tiles(
    __global const TW_T* a, ulong a_first, ulong n, __global const TW_T* b, ulong b_first, ulong m,
    __global tw_coefficient* c, ulong c_first, ulong begin, ulong count, ulong modulus, ulong first_tile) {
  __local tw_factor a_step[TW_STEP], b_rows[TW_ROWS * TW_PITCH];
  const int me = get_local_id(0);
  const ulong tiles = (count + TW_TILE - 1) / TW_TILE, tile = first_tile + get_group_id(0);
  const ulong product = tile / tiles, first = begin + tile % tiles * TW_TILE, mine = first + me * TW_ITEMS;
  a += a_first + product * n;
  b += b_first + product * m;
  c += c_first + product * (n + m);
  __local const tw_factor* row = b_rows + (me + TW_STEP / TW_ITEMS - 1) * TW_PITCH;
  tw_chain chains[TW_ITEMS];
  _Pragma("unroll") for (int r = 0; r < TW_ITEMS; ++r) chains[r] = TW_EMPTY_CHAIN;

  const ulong end = tw_end(first + TW_TILE - 1, n);
  for (ulong i = tw_begin(first, m); i < end; i += TW_STEP) {
    tw_load(a, i, n, b, first, m, modulus, a_step, b_rows);
    barrier(CLK_LOCAL_MEM_FENCE);  // the step's a's and b's are loaded
    const tw_block block = {a_step, row, (long)(mine - i), (long)(n - i), (long)m, modulus};
    tw_multiply_step(block, chains);
    barrier(CLK_LOCAL_MEM_FENCE);  // and are done with
  }
  _Pragma("unroll") for (int r = 0; r < TW_ITEMS; ++r) {
    const ulong at = mine + r - begin;
    if (at < count) c[at] = tw_coefficient_of(chains[r], modulus);
  }
}
