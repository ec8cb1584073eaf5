// SPDX-License-Identifier: Apache-2.0
// What:   the values of long segments' chunks, level by level, for programs that fold segments.
// Order:  chunks are counted from each segment's begin, so they are blocks of that segment.
// Shape:  own: a group for each long segment notes which windows are its chunks'. Chunks: a group for each window of a
//         chunk's length, in which at most one begins.
// Limits: as many values and owners as there are windows, on each level.
// Twins:  survey.hpp; embedded after order/operators.cl, order/block_tree.cl and survey.cl.
TW_DEFINE_STACK(tw_private, __private)

#define TW_ITEMS_OWN 512  // segments below this length are an item's
#define TW_NOBODY (~0ul)

__kernel void tw_own(__global const long* offsets, ulong offsets_first, ulong n, __global const ulong* long_segment,
                     __global ulong* owner, ulong first_tile) {
  const ulong s = long_segment[first_tile + get_group_id(0)];
  const ulong begin = (ulong)offsets[offsets_first + s], length = (ulong)offsets[offsets_first + s + 1] - begin;
  for (int level = 1; length >> level * TW_LOG_TILE != 0; ++level) {
    const ulong at = tw_level_first(n, level) + (begin >> level * TW_LOG_TILE);
    for (ulong c = get_local_id(0); c < length >> level * TW_LOG_TILE; c += TW_GROUP) owner[at + c] = s;
  }
}

// The elements of a level, 0 being the input.
static inline __global const TW_T* tw_level(__global const TW_T* in, ulong in_first, __global const TW_T* values,
                                            ulong n, int level) {
  return level == 0 ? in + in_first : values + tw_level_first(n, level);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_chunks(
    __global const TW_T* in, ulong in_first, ulong n, int level, __global const long* offsets, ulong offsets_first,
    __global const ulong* owner, __global TW_T* values, ulong first_tile) {
  __local TW_T units[TW_PADDED_UNITS], items[TW_PADDED_GROUP], tops[TW_TOPS];
  const ulong w = first_tile + get_group_id(0), place = tw_level_first(n, level) + w, s = owner[place];
  const ulong begin = s == TW_NOBODY ? 0 : (ulong)offsets[offsets_first + s] >> (level - 1) * TW_LOG_TILE;
  // Without an owner the window itself is taken, in vain: the barriers are every item's.
  __global const TW_T* const from = level == 1 ? in : values;
  const ulong first = (level == 1 ? in_first : tw_level_first(n, level - 1)) + w * TW_TILE + begin % TW_TILE;
  const TW_T value = tw_tile_value(from, first, TW_TILE, 0, units, items, tops);
  if (get_local_id(0) == 0 && s != TW_NOBODY) values[place] = value;
}
