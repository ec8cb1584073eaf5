// SPDX-License-Identifier: Apache-2.0
// What:   segment_scan/opencl. Segments: those that end within their tile. Descend: the others, level by level from the
//         highest. On each level the values of chunks (chunks.cl) become the prefixes after them, from which the level
//         below starts. The lowest level is the elements, which become the outputs.
// Order:  runs and chunks are counted from each segment's begin, so they are blocks of that segment. Prefixes descend
//         from P at the begin of a run or chunk. At the end of a whole one, P is the next one's begin: it completes a
//         block, so it is taken from the fold of the runs, or from the level above.
// Shape:  segments: a group stages the elements of a tile; short ones are an item's, longer ones the group's. Descend:
//         a group for each chunk of the level above, and one for what is left of each long segment.
// Limits: local memory for one tile of elements; works in place.
// Twins:  serial.cpp; embedded after order/stage.cl, order/outputs.cl and segment_reduce/opencl/chunks.cl.
TW_DEFINE_OUTPUTS(tw_outputs_of_run, tw_item_down, TW_ITEMS)
TW_DEFINE_OUTPUTS(tw_outputs_of_radix, tw_radix_down, TW_RADIX)

#define TW_LOG_RUNS 6  // levels of the stack of a short segment's runs
#if TW_ITEMS_OWN > TW_RADIX << (TW_LOG_RUNS - 1)
#error "an item's segments have more runs than its stack has room for"
#endif

// A run in local memory, of which `count` elements are there; the others are the identity.
#define TW_DEFINE_RUN(NAME, LENGTH)                                                                                    \
  static inline void NAME##_take(__local const TW_T* stage, uint at, uint count, TW_T* mine) {                         \
    _Pragma("unroll") for (uint i = 0; i < (LENGTH); ++i) mine[i] = i < count ? stage[TW_PLACE(at + i)] : TW_IDENTITY; \
  }                                                                                                                    \
  static inline void NAME##_put(const TW_T* mine, uint at, uint count, __local TW_T* stage) {                          \
    _Pragma("unroll") for (uint i = 0; i < (LENGTH); ++i) {                                                            \
      if (i < count) stage[TW_PLACE(at + i)] = mine[i];                                                                \
    }                                                                                                                  \
  }
TW_DEFINE_RUN(tw_run, TW_ITEMS)
TW_DEFINE_RUN(tw_radix_run, TW_RADIX)

// Scans a segment of the stage in place, by one item. The prefix after a run is the fold of all runs so far; after a
// last run that is not whole, nothing uses it.
static inline void tw_scan_alone(__local TW_T* stage, tw_segment s, TW_T init, uint mode) {
  TW_T runs[TW_LOG_RUNS], mine[TW_RADIX], before = TW_IDENTITY;
  for (uint r = 0; r * TW_RADIX < s.length; ++r) {
    const uint at = s.at + r * TW_RADIX, count = min(s.length - r * TW_RADIX, (uint)TW_RADIX);
    tw_radix_run_take(stage, at, count, mine);
    tw_private_push(runs, r, tw_radix_up(mine));
    const TW_T after = tw_private_fold(runs, r + 1, TW_IDENTITY);
    tw_outputs_of_radix(mine, before, after, init, mode);
    tw_radix_run_put(mine, at, count, stage);
    before = after;
  }
}

// Scans part of the stage in place, by the group: at most a tile, from P at its begin; `after` is P at the end of a
// whole tile.
static inline void tw_scan_together(__local TW_T* stage, tw_segment s, TW_T before, TW_T after, TW_T init, uint mode,
                                    __local TW_T* items, __local TW_T* tops) {
  const uint me = get_local_id(0), at = me * TW_ITEMS, count = at < s.length ? min(s.length - at, (uint)TW_ITEMS) : 0;
  TW_T mine[TW_ITEMS], own = TW_IDENTITY;
  if (count != 0) {  // a segment may be much shorter than the tile
    tw_run_take(stage, s.at + at, count, mine);
    own = tw_item_up(mine);
  }
  tw_group_up(own, items, tops, true);
  tw_group_down(before, items, tops);
  if (count != 0) {
    const TW_T next = me + 1 < TW_GROUP ? items[TW_PAD(min(me + 1, TW_GROUP - 1u))] : after;
    tw_outputs_of_run(mine, items[TW_PAD(me)], next, init, mode);
    tw_run_put(mine, s.at + at, count, stage);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the outputs are in the stage; `items` and `tops` may be used again
}

static inline void tw_store(__local const TW_T* stage, uint count, __global TW_T* to) {
  for (uint i = get_local_id(0); i < count; i += TW_GROUP) to[i] = stage[TW_PLACE(i)];
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_segments(
    __global const TW_T* in, ulong in_first, __global const long* offsets, ulong offsets_first,
    __global const tw_border* border, TW_T init, uint mode, __global TW_T* out, ulong out_first, ulong first_tile) {
  __local TW_T stage[TW_PLACE(TW_TILE)], items[TW_PADDED_GROUP], tops[TW_TOPS];
  __local uint longer[TW_TILE / TW_ITEMS_OWN + 1], longer_ones;
  const uint me = get_local_id(0);
  const tw_tile tile = tw_tile_of(border, first_tile + get_group_id(0));
  if (me == 0) longer_ones = 0;
  tw_take_spread(in + in_first + tile.begin, tile.length, stage);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the elements are there; in place, they may be written over
  for (uint k = me; k < tile.count; k += TW_GROUP) {
    const tw_segment s = tw_segment_of(tile, offsets + offsets_first, k);
    if (s.length >= TW_ITEMS_OWN)
      longer[atomic_inc(&longer_ones)] = k;
    else
      tw_scan_alone(stage, s, init, mode);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the longer ones are known, and the outputs of the others are in the stage
  const uint ones = longer_ones;
  for (uint i = 0; i < ones; ++i) {
    const tw_segment s = tw_segment_of(tile, offsets + offsets_first, longer[i]);
    tw_scan_together(stage, s, TW_IDENTITY, TW_IDENTITY, init, mode, items, tops);
  }
  tw_store(stage, tile.length, out + out_first + tile.begin);
}

// Part of a long segment on a level: `count` values from the level's value `first` on, either all of a chunk of the
// level above or what is left after the last of these. `number` chunks of the segment are before it.
typedef struct {
  ulong first, number;
  uint count;
} tw_part;

static inline tw_part tw_part_of(ulong begin, ulong length, ulong number, int level) {
  const ulong before = number * TW_TILE, all = length >> level * TW_LOG_TILE;
  const tw_part found = {(begin >> level * TW_LOG_TILE) + before, number, (uint)min(all - before, (ulong)TW_TILE)};
  return found;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_descend(
    __global const TW_T* in, ulong in_first, ulong n, int level, __global const long* offsets, ulong offsets_first,
    __global const ulong* owner, __global const ulong* long_segment, __global TW_T* values, TW_T init, uint mode,
    __global TW_T* out, ulong out_first, ulong first_tile) {
  __local TW_T stage[TW_PLACE(TW_TILE)], items[TW_PADDED_GROUP], tops[TW_TOPS];
  const ulong group = first_tile + get_group_id(0), above = tw_level_first(n, level + 1);
  const int log_chunk = (level + 1) * TW_LOG_TILE;
  const ulong windows = n >> log_chunk;
  const ulong s = group < windows ? owner[above + group] : long_segment[group - windows];
  tw_part part = {0, 0, 0};  // of a window without an owner
  TW_T before = TW_IDENTITY, after = TW_IDENTITY;
  if (s != TW_NOBODY) {
    const ulong begin = (ulong)offsets[offsets_first + s], length = (ulong)offsets[offsets_first + s + 1] - begin;
    const ulong chunks = begin >> log_chunk;
    part = tw_part_of(begin, length, group < windows ? group - chunks : length >> log_chunk, level);
    if (part.number != 0) before = values[above + chunks + part.number - 1];
    if (part.count == TW_TILE) after = values[above + chunks + part.number];
  }
  tw_take_spread(tw_level(in, in_first, values, n, level) + part.first, part.count, stage);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the values are there; they may now be written over
  const tw_segment all = {0, part.count};
  tw_scan_together(stage, all, before, after, init, level == 0 ? mode : TW_INCLUSIVE | TW_SPINE, items, tops);
  __global TW_T* const to = level == 0 ? out + out_first : values + tw_level_first(n, level);
  tw_store(stage, part.count, to + part.first);
}
