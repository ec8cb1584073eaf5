// SPDX-License-Identifier: Apache-2.0
// What:   sort/opencl:merge_rank (tw_merge_by_rank) and sort/opencl:merge_path (tw_sort_tiles of program.cl, then
//         tw_split and tw_merge). A pass merges pairs of sorted runs.
// Order:  the left run's elements come before equal ones of the right run.
// Shape:  merge_rank: one item per element, whose place is its index in its own run plus its rank in the partner run.
//         merge_path: one group per tile of the output; tw_split finds which parts of the runs meet there; where the
//         tiles are few, each group finds its own. Runs that a caller has are first encoded.
// Limits: merge_rank: none; merge_path: local memory for a tile of keys. Runs and sizes are 64-bit.
// Twins:  serial.cpp; embedded after program.cl.

// The index of the first of the sorted `keys` that is not below `code`, or of the first above it.
static inline ulong tw_lower(__global const tw_key* keys, ulong count, tw_key wanted, bool above, tw_code code) {
  ulong low = 0, high = count;
  while (low < high) {
    const ulong middle = low + (high - low) / 2;
    const tw_key other = tw_encode(keys[middle], code);
    if (other < wanted || (above && other == wanted))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__kernel void tw_merge_by_rank(TW_MOVED, ulong run, ulong first_tile) {
  const tw_code code = TW_CODE;
  const ulong me = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0);
  if (me >= count) return;
  const ulong start = me / run * run;
  const bool right = (me / run & 1) != 0;
  const ulong partner = right ? start - run : min(start + run, count);
  const ulong partner_size = min(run, count - partner);
  const tw_key key = keys[first_key + me];
  const ulong rank = tw_lower(keys + first_key + partner, partner_size, tw_encode(key, code), right, code);
  // The left run's place, plus the index in its own run, plus the rank.
  const ulong to = min(start, partner) + (me - start) + rank;
  keys_out[first_key_out + to] = key;
#if TW_VALUE_BYTES
  values_out[first_value_out + to] = mode & TW_INDICES ? (tw_value)me : values[first_value + me];
#endif
}

// How many of the first `diagonal` elements of the merged runs come from the left one.
#define TW_DEFINE_SPLIT(NAME, SPACE, INDEX)                                                                        \
  static inline INDEX NAME(SPACE const tw_key* left, INDEX left_size, SPACE const tw_key* right, INDEX right_size, \
                           INDEX diagonal) {                                                                       \
    INDEX low = diagonal > right_size ? diagonal - right_size : 0, high = min(diagonal, left_size);                \
    while (low < high) {                                                                                           \
      const INDEX middle = low + (high - low) / 2;                                                                 \
      if (left[middle] <= right[diagonal - 1 - middle])                                                            \
        low = middle + 1;                                                                                          \
      else                                                                                                         \
        high = middle;                                                                                             \
    }                                                                                                              \
    return low;                                                                                                    \
  }
TW_DEFINE_SPLIT(tw_split_of_runs, __global, ulong)
TW_DEFINE_SPLIT(tw_split_of_tile, __local, uint)

// Two runs that are merged, around a place of the output, and how far into them the place is. Pairs are `period`
// elements long, their left runs `run` of these.
typedef struct {
  ulong start, left_size, right_size, diagonal;
} tw_pair;

static inline tw_pair tw_pair_at(ulong at, ulong run, ulong period, ulong count) {
  tw_pair pair;
  pair.start = at / period * period;
  pair.left_size = min(run, count - pair.start);
  pair.right_size = min(period - run, count - pair.start - pair.left_size);
  pair.diagonal = at - pair.start;
  return pair;
}

// How much of the pair's left run comes before the place `at` of the output.
static inline ulong tw_split_at(__global const tw_key* keys, ulong at, ulong run, ulong period, ulong count) {
  const tw_pair pair = tw_pair_at(at, run, period, count);
  __global const tw_key* left = keys + pair.start;
  return tw_split_of_runs(left, pair.left_size, left + pair.left_size, pair.right_size, pair.diagonal);
}

// splits[t]: how much of the left run comes before tile t of the output.
__kernel void tw_split(TW_LOOKED, __global ulong* splits, ulong tiles, ulong run, ulong period, ulong first_tile) {
  const ulong tile = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0);
  if (tile >= tiles) return;
  splits[tile] = tw_split_at(keys + first_key, tile * TW_SORT_TILE, run, period, count);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_merge(TW_MOVED, __global const ulong* splits,
                                                                             ulong run, ulong period, uint search,
                                                                             ulong first_tile) {
  __local tw_key staged[TW_SORT_TILE];
#if TW_VALUE_BYTES
  __local ushort sources[TW_SORT_TILE];
#endif
  __local ulong ends[2];
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0);
  const ulong tile = first_tile + get_group_id(0), first = tile * TW_SORT_TILE;
  const uint size = (uint)min((ulong)TW_SORT_TILE, count - first);
  const tw_pair pair = tw_pair_at(first, run, period, count);
  const ulong pair_size = pair.left_size + pair.right_size, end = pair.diagonal + size;
  if (me < 2) {
    const ulong at = me == 0 ? pair.diagonal : end;
    ends[me] = at == pair_size ? pair.left_size
               : search        ? tw_split_at(keys + first_key, pair.start + at, run, period, count)
                               : splits[tile + me];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the parts' ends are stored
  const ulong left_first = ends[0], left_last = ends[1];
  const uint left_size = (uint)(left_last - left_first), right_size = size - left_size;
  // The left part comes first, the right part after it; so do the values' sources.
  const ulong left_at = pair.start + left_first;
  const ulong right_at = pair.start + pair.left_size + (pair.diagonal - left_first) - left_size;
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    if (i < size) staged[i] = keys[first_key + (i < left_size ? left_at : right_at) + i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // both parts are loaded
  const uint diagonal = min(me * TW_HELD, size);
  uint left = tw_split_of_tile(staged, left_size, staged + left_size, right_size, diagonal);
  uint right = left_size + diagonal - left;
  tw_key merged[TW_HELD];
  uint source[TW_HELD];
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const bool from_left = left < left_size && (right >= size || staged[left] <= staged[right]);
    source[q] = from_left ? left++ : min(right++, size - 1);
    merged[q] = staged[source[q]];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // both parts are read
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    staged[me * TW_HELD + q] = merged[q];
#if TW_VALUE_BYTES
    sources[me * TW_HELD + q] = (ushort)source[q];
#endif
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the tile is in order
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    if (i >= size) continue;
    keys_out[first_key_out + first + i] = mode & TW_DECODE ? tw_decode(staged[i], code) : staged[i];
#if TW_VALUE_BYTES
    const uint from = sources[i];
    values_out[first_value_out + first + i] = values[first_value + (from < left_size ? left_at : right_at) + from];
#endif
  }
}

// Turns keys into the codes that tw_split and tw_merge compare.
__kernel void tw_encode_keys(__global tw_key* keys, ulong first_key, ulong count, TW_CODE_WORDS, ulong first_tile) {
  const tw_code code = TW_CODE;
  const ulong me = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0);
  if (me < count) keys[first_key + me] = tw_encode(keys[first_key + me], code);
}
