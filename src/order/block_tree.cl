// SPDX-License-Identifier: Apache-2.0
// What:   the block trees of one tile, which one work-group holds. Each work-item holds TW_ITEMS contiguous elements in
//         registers; the items' values are combined in a tree of radix 16 in local memory.
// Order:  up: node = left + right over aligned blocks. down: starts with the carry at the root; the left child gets its
//         parent's prefix, and the right child adds the left child's value to it, so leaf i gets P(i).
// Shape:  TW_GROUP = 2^TW_LOG_GROUP work-items, a tile of TW_GROUP * TW_ITEMS elements; a tree takes four barriers.
// Limits: TW_LOG_GROUP >= 5; an item holds a whole number of 16-byte units.
// Twins:  block_stack.hpp.
#ifndef TW_V
#define TW_V float4  // 16 bytes of elements
#define TW_W 4       // elements in 16 bytes
#endif
#ifndef TW_LOG_GROUP
#define TW_LOG_GROUP 8
#endif
#ifndef TW_LOG_ITEMS
#define TW_LOG_ITEMS 4
#endif
#ifdef TW_GROUP
#error "TW_GROUP follows from TW_LOG_GROUP: define that"
#endif
#define TW_GROUP (1 << TW_LOG_GROUP)
#define TW_ITEMS (1 << TW_LOG_ITEMS)
#define TW_TILE ((ulong)TW_GROUP * TW_ITEMS)
#define TW_LOG_W (TW_W == 4 ? 2 : 1)
#define TW_LOG_UNITS (TW_LOG_ITEMS - TW_LOG_W)  // an item's 16-byte units
#define TW_UNITS (1 << TW_LOG_UNITS)

// The tree of 2^LOG values in an item's registers. NAME_up stores each left child's value at the child's last element
// and returns the root's value; NAME_down turns these values into prefixes. All loops have constant bounds, so that no
// register is indexed at run time.
#define TW_DEFINE_TREE(NAME, LOG)                                                      \
  static inline TW_T NAME##_up(TW_T* v) {                                              \
    _Pragma("unroll") for (int k = 0; k < (LOG); ++k) {                                \
      _Pragma("unroll") for (int i = (2 << k) - 1; i < 1 << (LOG); i += 2 << k) v[i] = \
          tw_apply(v[i - (1 << k)], v[i]);                                             \
    }                                                                                  \
    return v[(1 << (LOG)) - 1];                                                        \
  }                                                                                    \
  static inline void NAME##_down(TW_T* v, TW_T carry) {                                \
    v[(1 << (LOG)) - 1] = carry;                                                       \
    _Pragma("unroll") for (int k = (LOG)-1; k >= 0; --k) {                             \
      _Pragma("unroll") for (int i = (2 << k) - 1; i < 1 << (LOG); i += 2 << k) {      \
        const TW_T left = v[i - (1 << k)];                                             \
        v[i - (1 << k)] = v[i];                                                        \
        v[i] = tw_apply(v[i], left);                                                   \
      }                                                                                \
    }                                                                                  \
  }

#define TW_LOG_RADIX 4
#define TW_RADIX (1 << TW_LOG_RADIX)
#define TW_LOG_TOPS (TW_LOG_GROUP - TW_LOG_RADIX)
#define TW_TOPS (1 << TW_LOG_TOPS)
TW_DEFINE_TREE(tw_item, TW_LOG_ITEMS)
TW_DEFINE_TREE(tw_radix, TW_LOG_RADIX)
TW_DEFINE_TREE(tw_top, TW_LOG_TOPS)
TW_DEFINE_TREE(tw_mine, TW_LOG_UNITS)

// One value for each item, padded so that items that each read 16 consecutive values use different banks.
#define TW_PAD(i) ((i) + ((i) >> TW_LOG_RADIX))
#define TW_PADDED_GROUP (TW_PAD(TW_GROUP) + 1)

// The group's tree over one value per item. Returns the root's value, in item 0 only. With `keep`, `items` and `tops`
// keep the values that the way down needs. They are not kept in registers, since only a few items would use these but
// all would have to reserve them.
static inline TW_T tw_group_up(TW_T value, __local TW_T* items, __local TW_T* tops, const bool keep) {
  const int me = get_local_id(0);
  items[TW_PAD(me)] = value;
  barrier(CLK_LOCAL_MEM_FENCE);  // every item's value is stored
  if (me < TW_TOPS) {
    TW_T v[TW_RADIX];
    _Pragma("unroll") for (int i = 0; i < TW_RADIX; ++i) v[i] = items[TW_PAD(me * TW_RADIX + i)];
    tops[me] = tw_radix_up(v);
    if (keep) {
      _Pragma("unroll") for (int i = 0; i < TW_RADIX; ++i) items[TW_PAD(me * TW_RADIX + i)] = v[i];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // every block of 16 items has its value
  if (me != 0) return value;
  TW_T v[TW_TOPS];
  _Pragma("unroll") for (int i = 0; i < TW_TOPS; ++i) v[i] = tops[i];
  const TW_T root = tw_top_up(v);
  if (keep) {
    _Pragma("unroll") for (int i = 0; i < TW_TOPS; ++i) tops[i] = v[i];
  }
  return root;
}

// Turns items[TW_PAD(i)] into the prefix before item i, from the carry that item 0 holds.
static inline void tw_group_down(TW_T carry, __local TW_T* items, __local TW_T* tops) {
  const int me = get_local_id(0);
  if (me == 0) {
    TW_T v[TW_TOPS];
    _Pragma("unroll") for (int i = 0; i < TW_TOPS; ++i) v[i] = tops[i];
    tw_top_down(v, carry);
    _Pragma("unroll") for (int i = 0; i < TW_TOPS; ++i) tops[i] = v[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // every block of 16 items has its prefix
  if (me < TW_TOPS) {
    TW_T v[TW_RADIX];
    _Pragma("unroll") for (int i = 0; i < TW_RADIX; ++i) v[i] = items[TW_PAD(me * TW_RADIX + i)];
    tw_radix_down(v, tops[me]);
    _Pragma("unroll") for (int i = 0; i < TW_RADIX; ++i) items[TW_PAD(me * TW_RADIX + i)] = v[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // every item has its prefix
}

#if TW_W == 4
static inline TW_T tw_unit_value(TW_V u) { return tw_apply(tw_apply(u.s0, u.s1), tw_apply(u.s2, u.s3)); }
#else
static inline TW_T tw_unit_value(TW_V u) { return tw_apply(u.s0, u.s1); }
#endif

// The 16 bytes from element i of `in`, which has `count` elements; missing elements are the identity.
static inline TW_V tw_unit_at_end(__global const TW_T* in, ulong i, ulong count) {
  TW_T a[TW_W];
  _Pragma("unroll") for (int k = 0; k < TW_W; ++k) a[k] = i + k < count ? in[i + k] : TW_IDENTITY;
#if TW_W == 4
  return (TW_V)(a[0], a[1], a[2], a[3]);
#else
  return (TW_V)(a[0], a[1]);
#endif
}

// Whether a tile is whole and aligned to 16 bytes, so that whole units can be read and written.
static inline bool tw_in_units(ulong first, ulong tile, ulong count) {
  return first % TW_W == 0 && (tile + 1) * TW_TILE <= count;
}

// One value per unit, padded so that an item's own consecutive units do not share a bank with the next item's.
#define TW_PAD_UNIT(u) ((u) + (TW_LOG_UNITS > 0 ? (u) >> TW_LOG_UNITS : 0))
#define TW_PADDED_UNITS (TW_GROUP * TW_UNITS + TW_GROUP)

// The value of a tile, in item 0 only, from the values of its units in `units`.
static inline TW_T tw_units_value(__local const TW_T* units, __local TW_T* items, __local TW_T* tops) {
  const int me = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);  // every unit has its value
  TW_T mine[TW_UNITS];
  _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) mine[q] = units[TW_PAD_UNIT(me * TW_UNITS + q)];
  return tw_group_up(tw_mine_up(mine), items, tops, false);
}

// The block value of tile `tile` of in[first, first + count), in item 0 only. A short tile is filled with the identity.
static inline TW_T tw_tile_value(__global const TW_T* in, ulong first, ulong count, ulong tile, __local TW_T* units,
                                 __local TW_T* items, __local TW_T* tops) {
  const int me = get_local_id(0);
  TW_V loaded[TW_UNITS];
  if (tw_in_units(first, tile, count)) {
    __global const TW_V* source = (__global const TW_V*)(in + first + tile * TW_TILE);
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) loaded[q] = source[q * TW_GROUP + me];
  } else {
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) loaded[q] =
        tw_unit_at_end(in + first, tile * TW_TILE + (q * TW_GROUP + me) * TW_W, count);
  }
  _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) units[TW_PAD_UNIT(q * TW_GROUP + me)] = tw_unit_value(loaded[q]);
  return tw_units_value(units, items, tops);
}

// Copies `count` <= TW_TILE elements, the i-th to nodes[PLACE(i)]. Each item issues all its loads before it stores the
// first element.
#define TW_DEFINE_TAKE(NAME, PLACE)                                                     \
  static inline void NAME(__global const TW_T* from, uint count, __local TW_T* nodes) { \
    if (count == 0) return;                                                             \
    TW_T taken[TW_ITEMS];                                                               \
    _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) taken[q] =                     \
        from[min((uint)(q * TW_GROUP + get_local_id(0)), count - 1)];                   \
    _Pragma("unroll") for (int q = 0; q < TW_ITEMS; ++q) {                              \
      const uint at = q * TW_GROUP + get_local_id(0);                                   \
      if (at < count) nodes[PLACE(at)] = taken[q];                                      \
    }                                                                                   \
  }
#define TW_PACKED(i) (i)
TW_DEFINE_TAKE(tw_take, TW_PACKED)

// Returns, in every item, the prefix `carry` continued by the `count` < TW_TILE elements in `nodes`, which the items
// have just written.
static inline TW_T tw_continue(TW_T carry, __local TW_T* nodes, int count) {
  const int me = get_local_id(0);
  for (int step = 1; 2 * step <= count; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the nodes of the level below are stored
    for (int i = (me + 1) * 2 * step - 1; i < count; i += TW_GROUP * 2 * step)
      nodes[i] = tw_apply(nodes[i - step], nodes[i]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // every node is stored; each block's value is at its last element
  for (int step = (int)TW_TILE / 2; step > 0; step /= 2)
    if (count & step) carry = tw_apply(carry, nodes[(count & ~(step - 1)) - 1]);
  barrier(CLK_LOCAL_MEM_FENCE);  // every item has read the nodes before any of them is overwritten
  return carry;
}

// A block stack (block_stack.hpp) in the address space SPACE, for blocks of equal length. NAME_push appends a block to
// `count` earlier ones; NAME_fold continues `prefix` by the `count` blocks.
#define TW_DEFINE_STACK(NAME, SPACE)                                                  \
  static inline void NAME##_push(SPACE TW_T* stack, ulong count, TW_T value) {        \
    int level = 0;                                                                    \
    for (; (count >> level & 1) != 0; ++level) value = tw_apply(stack[level], value); \
    stack[level] = value;                                                             \
  }                                                                                   \
  static inline TW_T NAME##_fold(SPACE const TW_T* stack, ulong count, TW_T prefix) { \
    for (ulong rest = count; rest != 0;) {                                            \
      const int level = 63 - (int)clz(rest);                                          \
      prefix = tw_apply(prefix, stack[level]);                                        \
      rest ^= 1ul << level;                                                           \
    }                                                                                 \
    return prefix;                                                                    \
  }

// The position where the values of a level (1, 2, ...) begin: a multiple of 16 elements.
static inline ulong tw_level_first(ulong n, int level) {
  ulong first = 0;
  for (int k = 1; k < level; ++k) first += ((n >> k * (TW_LOG_GROUP + TW_LOG_ITEMS)) + 15) / 16 * 16;
  return first;
}
