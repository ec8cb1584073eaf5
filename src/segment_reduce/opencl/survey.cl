// SPDX-License-Identifier: Apache-2.0
// What:   what all programs on segments share: checks the offsets, and notes where tiles begin and which segments are
//         long.
// Order:  of the list of long segments: any, so no result may depend on it.
// Shape:  an item for each segment.
// Limits: one item writes all notes of a segment; offsets that the survey refuses must not reach another kernel.
// Twins:  survey.hpp; embedded after order/block_tree.cl.
#define TW_LOG_TILE (TW_LOG_GROUP + TW_LOG_ITEMS)
#define TW_SHARE (TW_TILE / 8 * 7)  // elements and segments for which a group is responsible

// What the survey finds: found[0] is not 0 if the offsets are not those of segments, found[1] counts the long ones.
#define TW_FAULT 0
#define TW_LONG 1

__kernel void tw_fill(__global ulong* words, ulong count, ulong value, ulong first_tile) {
  const ulong i = (first_tile + get_group_id(0)) * TW_GROUP + get_local_id(0);
  if (i < count) words[i] = value;
}

// A border of tiles: the first segment behind it, that segment's begin, and where the elements of the tile before it
// end: if its last segment is long, before that.
typedef struct {
  ulong segment, begin, stop;
} tw_border;

__kernel void tw_survey(__global const long* offsets, ulong offsets_first, ulong segments, ulong n, uint may_be_empty,
                        ulong tiles, ulong most_long, __global tw_border* border, __global ulong* long_segment,
                        __global volatile uint* found, ulong first_tile) {
  const ulong s = (first_tile + get_group_id(0)) * TW_GROUP + get_local_id(0);
  if (s >= segments) return;
  const long first = offsets[offsets_first + s], last = offsets[offsets_first + s + 1];
  if (first < 0 || first > last || last > (long)n || (first == last && !may_be_empty) || (s == 0 && first != 0) ||
      (s + 1 == segments && last != (long)n)) {
    atomic_or(found + TW_FAULT, 1u);
    return;
  }
  const ulong begin = (ulong)first, end = (ulong)last;
  const bool is_long = (begin + s) % TW_SHARE + (end - begin) >= TW_TILE;
  const tw_border behind = {s + 1, end, is_long ? begin : end}, start = {0, 0, 0};
  if (s == 0) border[0] = start;
  if (s + 1 == segments) border[tiles] = behind;
  for (ulong t = (begin + s) / TW_SHARE + 1; t <= (end + s + 1) / TW_SHARE; ++t) {
    if (found[TW_FAULT] != 0) return;  // false offsets could ask for very many notes
    border[t] = behind;
  }
  if (!is_long) return;
  const uint place = atomic_inc(found + TW_LONG);
  if (place < most_long) long_segment[place] = s;  // only false offsets make more
}

// The short segments of a tile: `count` of them from `first` on, with `length` elements from in[begin] on.
typedef struct {
  ulong first, begin;
  uint count, length;
} tw_tile;

static inline tw_tile tw_tile_of(__global const tw_border* border, ulong tile) {
  const tw_border from = border[tile], to = border[tile + 1];
  const uint count = (uint)(to.segment - from.segment) - (to.segment != from.segment && to.stop != to.begin);
  const tw_tile found = {from.segment, from.begin, count, count != 0 ? (uint)(to.stop - from.begin) : 0};
  return found;
}

// Segment k of a tile: `length` elements from the tile's element `at` on.
typedef struct {
  uint at, length;
} tw_segment;

static inline tw_segment tw_segment_of(tw_tile of, __global const long* offsets, uint k) {
  const ulong begin = (ulong)offsets[of.first + k], end = (ulong)offsets[of.first + k + 1];
  const tw_segment found = {(uint)(begin - of.begin), (uint)(end - begin)};
  return found;
}
