// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce/opencl. Segments: those that end within their tile. Finish: the others, from the values of
//         their chunks (chunks.cl): what is left of each level, from the highest down.
// Order:  runs of 16 are counted from each segment's begin, so they are blocks of that segment.
// Shape:  segments: a group stages the elements of a tile; short ones are an item's, longer ones the group's. Finish: a
//         group for each long segment.
// Limits: local memory for one tile of elements.
// Twins:  serial.cpp, cuda/variants.cu; embedded after survey.cl and chunks.cl.
#define TW_RUN 16

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
  const tw_tile tile = tw_tile_of(border, first_tile + get_group_id(0));
  if (me == 0) longer_ones = 0;
  tw_take(in + in_first + tile.begin, tile.length, stage);
  barrier(CLK_LOCAL_MEM_FENCE);  // the elements are there
  for (uint k = me; k < tile.count; k += TW_GROUP) {
    const tw_segment s = tw_segment_of(tile, offsets + offsets_first, k);
    if (s.length >= TW_ITEMS_OWN)
      longer[atomic_inc(&longer_ones)] = k;
    else
      out[out_first + tile.first + k] =
          s.length == 0 ? empty : tw_canonical(tw_apply(init, tw_prefix_of(stage + s.at, s.length)));
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the longer ones are known
  const uint ones = longer_ones;
  for (uint i = 0; i < ones; ++i) {
    const tw_segment s = tw_segment_of(tile, offsets + offsets_first, longer[i]);
    const TW_T prefix = tw_continue(TW_IDENTITY, stage + s.at, (int)s.length);
    if (me == 0) out[out_first + tile.first + longer[i]] = tw_canonical(tw_apply(init, prefix));
  }
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
