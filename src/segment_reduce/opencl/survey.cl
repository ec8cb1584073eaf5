// SPDX-License-Identifier: Apache-2.0
// What:   what all programs on segments share. Survey: checks the offsets, and notes where tiles begin and which
//         windows belong to long segments. Chunks: the values of long segments' chunks, level by level.
// Order:  chunks are counted from each segment's begin, so they are blocks of that segment.
// Shape:  survey: an item for each segment. Chunks: a group for each window of a chunk's length, in which at most one
//         begins.
// Limits: one item writes all notes of a segment; offsets that the survey refuses must not reach another kernel.
// Twins:  survey.hpp; embedded after order/operators.cl and order/block_tree.cl.
TW_DEFINE_STACK(tw_private, __private)

#define TW_LOG_TILE (TW_LOG_GROUP + TW_LOG_ITEMS)
#define TW_SHARE (TW_TILE / 8 * 7)  // elements and segments for which a group is responsible
#define TW_ITEMS_OWN 512            // segments below this length are an item's
#define TW_NOBODY (~0ul)

// What the survey finds: found[0] is not 0 if the offsets are not those of segments, found[1] counts the long ones.
#define TW_FAULT 0
#define TW_LONG 1

__kernel void tw_clear(__global ulong* owner, ulong windows, __global uint* found, ulong first_tile) {
  const ulong i = (first_tile + get_group_id(0)) * TW_GROUP + get_local_id(0);
  if (i < windows) owner[i] = TW_NOBODY;
  if (i < 2) found[i] = 0;
}

// A border of tiles: the first segment behind it, that segment's begin, and where the elements of the tile before it
// end: if its last segment is long, before that.
typedef struct {
  ulong segment, begin, stop;
} tw_border;

__kernel void tw_survey(__global const long* offsets, ulong offsets_first, ulong segments, ulong n, uint may_be_empty,
                        ulong tiles, ulong most_long, __global tw_border* border, __global ulong* owner,
                        __global ulong* long_segment, __global volatile uint* found, ulong first_tile) {
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
  if (place >= most_long) return;  // only false offsets make so many
  long_segment[place] = s;
  for (int level = 1; (end - begin) >> level * TW_LOG_TILE != 0; ++level) {
    const ulong at = tw_level_first(n, level) + (begin >> level * TW_LOG_TILE),
                count = (end - begin) >> level * TW_LOG_TILE;
    for (ulong c = 0; c < count && found[TW_FAULT] == 0; ++c) owner[at + c] = s;
  }
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
