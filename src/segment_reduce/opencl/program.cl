// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce/opencl. Survey: checks the offsets, and notes where tiles begin and which windows belong to long
//         segments. Segments: those that end within their tile. Chunks and finish: the others, level by level, then what
//         is left of each level from the highest down.
// Order:  runs of 16 and chunks are counted from each segment's begin, so they are blocks of that segment.
// Shape:  survey: an item for each segment. Segments: a group stages the elements of a tile; short ones are an item's,
//         longer ones the group's. Chunks: a group for each window of a chunk's length, in which at most one begins.
// Limits: local memory for one tile of elements; one item writes all notes of a segment.
// Twins:  serial.cpp, cuda/variants.cu; embedded after order/operators.cl and order/block_tree.cl.
TW_DEFINE_STACK(tw_private, __private)

#define TW_LOG_TILE (TW_LOG_GROUP + TW_LOG_ITEMS)
#define TW_SHARE (TW_TILE / 8 * 7)  // elements and segments for which a group is responsible
#define TW_RUN 16
#define TW_ITEMS_OWN 512  // an item reduces segments below this length alone
#define TW_NOBODY (~0ul)

// What the survey finds: found[0] is not 0 if the offsets are not those of segments, found[1] counts the long ones.
#define TW_FAULT 0
#define TW_LONG 1

__kernel void tw_clear(__global ulong* owner, ulong windows, __global uint* found, ulong first_tile) {
  const ulong i = (first_tile + get_group_id(0)) * TW_GROUP + get_local_id(0);
  if (i < windows) owner[i] = TW_NOBODY;
  if (i < 2) found[i] = 0;
}

// A border of tiles: the first segment behind it, that segment's begin, and where the elements end that the tile before
// it reduces: if its last segment is long, before that.
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

// P of a short segment, by one item.
static inline TW_T tw_prefix_of(__local const TW_T* x, uint length) {
  TW_T runs[10], rest[5], v[TW_RUN];
  const uint count = length / TW_RUN;
  for (uint r = 0; r < count; ++r) {
    _Pragma("unroll") for (int i = 0; i < TW_RUN; ++i) v[i] = x[r * TW_RUN + i];
    tw_private_push(runs, r, tw_radix_up(v));
  }
  for (uint i = 0; i < length % TW_RUN; ++i) tw_private_push(rest, i, x[count * TW_RUN + i]);
  return tw_private_fold(rest, length % TW_RUN, tw_private_fold(runs, count, TW_IDENTITY));
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_segments(
    __global const TW_T* in, ulong in_first, __global const long* offsets, ulong offsets_first,
    __global const tw_border* border, TW_T init, TW_T empty, __global TW_T* out, ulong out_first, ulong first_tile) {
  __local TW_T stage[TW_TILE];
  __local uint longer[TW_TILE / TW_ITEMS_OWN + 1], longer_ones;
  const int me = get_local_id(0);
  const tw_border from = border[first_tile + get_group_id(0)], to = border[first_tile + get_group_id(0) + 1];
  const uint count = (uint)(to.segment - from.segment) - (to.segment != from.segment && to.stop != to.begin);
  __global const long* const begin = offsets + offsets_first + from.segment;
  if (me == 0) longer_ones = 0;
  if (count != 0) tw_take(in + in_first + from.begin, (uint)(to.stop - from.begin), stage);
  barrier(CLK_LOCAL_MEM_FENCE);  // the elements are there
  for (uint k = me; k < count; k += TW_GROUP) {
    const uint at = (uint)(begin[k] - (long)from.begin), length = (uint)(begin[k + 1] - begin[k]);
    if (length >= TW_ITEMS_OWN)
      longer[atomic_inc(&longer_ones)] = k;
    else
      out[out_first + from.segment + k] =
          length == 0 ? empty : tw_canonical(tw_apply(init, tw_prefix_of(stage + at, length)));
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the longer ones are known
  const uint ones = longer_ones;
  for (uint i = 0; i < ones; ++i) {
    const uint k = longer[i];
    const uint at = (uint)(begin[k] - (long)from.begin), length = (uint)(begin[k + 1] - begin[k]);
    const TW_T prefix = tw_continue(TW_IDENTITY, stage + at, (int)length);
    if (me == 0) out[out_first + from.segment + k] = tw_canonical(tw_apply(init, prefix));
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

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_finish(
    __global const TW_T* in, ulong in_first, ulong n, __global const TW_T* values, __global const long* offsets,
    ulong offsets_first, __global const ulong* long_segment, TW_T init, __global TW_T* out, ulong out_first,
    ulong first_tile) {
  __local TW_T nodes[TW_TILE];
  const ulong s = long_segment[first_tile + get_group_id(0)];
  const ulong begin = (ulong)offsets[offsets_first + s], length = (ulong)offsets[offsets_first + s + 1] - begin;
  int level = 0;
  while (length >> (level + 1) * TW_LOG_TILE != 0) ++level;
  TW_T prefix = TW_IDENTITY;
  for (; level >= 0; --level) {
    const ulong count = length >> level * TW_LOG_TILE, tail = count % TW_TILE;
    tw_take(tw_level(in, in_first, values, n, level) + (begin >> level * TW_LOG_TILE) + count - tail, (uint)tail,
            nodes);
    prefix = tw_continue(prefix, nodes, (int)tail);
  }
  if (get_local_id(0) == 0) out[out_first + s] = tw_canonical(tw_apply(init, prefix));
}
