// SPDX-License-Identifier: Apache-2.0
// What:   segment_sort/opencl. Segments: those that end within their tile. Chunks: the others, cut from their begin on
//         and each chunk sorted; then passes merge neighbouring runs of a segment. Those that the host sorts one by one
//         are left out.
// Order:  by code (sort/code.hpp); equal codes in the order of the input. An element's slot is its run's first slot, plus
//         the number of elements before it in that run, plus those of the neighbouring run that come before it.
// Shape:  in local memory a group sorts runs of TW_RUN elements by counting, then doubles the runs, up to the longest
//         segment. Runs are counted from each segment's begin. Only the elements' first slots move with their codes;
//         values are fetched in the end. In memory runs are merged by the same ranks; values move along.
// Limits: local memory for a tile of codes and two numbers for each; works in place.
// Twins:  serial.cpp; embedded after sort/opencl/key_code.cl and segment_reduce/opencl/survey.cl.
#ifndef TW_VALUE_BYTES
#define TW_VALUE_BYTES 0
#endif
#if TW_VALUE_BYTES == 8
typedef ulong tw_value;
#else
typedef uint tw_value;
#endif

#define TW_RUN 8      // a power of two
#define TW_MARKED 32  // the marks of shorter segments are an item's

// The first arguments of every kernel that moves elements.
#define TW_MOVED                                                                                            \
  __global const tw_key *keys, ulong first_key, __global const tw_value *values, ulong first_value,         \
      __global tw_key *keys_out, ulong first_key_out, __global tw_value *values_out, ulong first_value_out, \
      TW_CODE_WORDS, uint mode

// What a group sorts. An element that begins a segment has its end as its mark, another one its segment's begin.
typedef struct {
  tw_key code[TW_TILE];
  ushort mark[TW_TILE];
#if TW_VALUE_BYTES
  ushort place[TW_TILE];  // the slot in which the element was loaded
#endif
} tw_stage;

typedef struct {
  uint begin, end;
} tw_span;

static inline tw_span tw_span_of(__local const tw_stage* stage, uint slot) {
  const uint mark = stage->mark[slot];
  const tw_span begins = {slot, mark}, within = {mark, stage->mark[min(mark, slot)]};
  return mark > slot ? begins : within;
}

static inline void tw_mark(__local tw_stage* stage, tw_span segment, uint first, uint step) {
  for (uint i = segment.begin + first; i < segment.end; i += step)
    stage->mark[i] = (ushort)(i == segment.begin ? segment.end : segment.begin);
}

// An element's slot in its run of TW_RUN.
static inline uint tw_slot_in_run(__local const tw_stage* stage, uint slot, tw_key code) {
  const tw_span segment = tw_span_of(stage, slot);
  const uint run = slot - (slot - segment.begin) % TW_RUN, end = min(run + TW_RUN, segment.end);
  uint to = run;
  for (uint i = run; i < end; ++i) {
    const tw_key other = stage->code[i];
    to += other < code || (other == code && i < slot) ? 1 : 0;
  }
  return to;
}

// How many of the sorted codes come before `wanted`: those below it, and with `equal` also the equal ones.
#define TW_DEFINE_RANK(NAME, SPACE, INDEX)                                                      \
  static inline INDEX NAME(SPACE const tw_key* codes, INDEX count, tw_key wanted, bool equal) { \
    INDEX low = 0, high = count;                                                                \
    while (low < high) {                                                                        \
      const INDEX middle = low + (high - low) / 2;                                              \
      if (codes[middle] < wanted || (equal && codes[middle] == wanted))                         \
        low = middle + 1;                                                                       \
      else                                                                                      \
        high = middle;                                                                          \
    }                                                                                           \
    return low;                                                                                 \
  }
TW_DEFINE_RANK(tw_rank_in_stage, __local, uint)
TW_DEFINE_RANK(tw_rank_in_memory, __global, ulong)

// An element's slot in the pair of its run, of `run` elements, and the neighbouring one.
static inline uint tw_slot_in_pair(__local const tw_stage* stage, uint slot, tw_key code, uint run) {
  const tw_span segment = tw_span_of(stage, slot);
  const uint own = (slot - segment.begin) & ~(run - 1), other = segment.begin + (own ^ run);
  if (other >= segment.end) return slot;
  const bool right = (own & run) != 0;
  return slot - (right ? run : 0) + tw_rank_in_stage(stage->code + other, min(run, segment.end - other), code, right);
}

// Moves the group's elements to the slots where they are in order: within runs of TW_RUN if `run` is 0, otherwise
// within pairs of runs.
static inline void tw_reorder(__local tw_stage* stage, uint count, uint run) {
  tw_key code[TW_ITEMS];
  ushort to[TW_ITEMS], place[TW_ITEMS];
  _Pragma("unroll") for (uint q = 0; q < TW_ITEMS; ++q) {
    const uint slot = TW_STRIPED(q);
    if (slot >= count) continue;
    code[q] = stage->code[slot];
    to[q] = (ushort)(run == 0 ? tw_slot_in_run(stage, slot, code[q]) : tw_slot_in_pair(stage, slot, code[q], run));
#if TW_VALUE_BYTES
    place[q] = run == 0 ? (ushort)slot : stage->place[slot];
#endif
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // all have been read
  _Pragma("unroll") for (uint q = 0; q < TW_ITEMS; ++q) {
    if (TW_STRIPED(q) >= count) continue;
    stage->code[to[q]] = code[q];
#if TW_VALUE_BYTES
    stage->place[to[q]] = place[q];
#endif
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // all are in their slots
}

// Sorts `count` elements from memory: the marked segments, of at most `longest` elements. `before` elements of the
// first one are not the group's. Memory is written once all has been read.
void tw_sort_stage(__local tw_stage* stage, __global const tw_key* keys, __global const tw_value* values,
                   __global tw_key* keys_out, __global tw_value* values_out, uint count, uint longest, ulong before,
                   tw_code code, uint mode) {
  for (uint i = get_local_id(0); i < count; i += TW_GROUP) stage->code[i] = tw_encode(keys[i], code);
  barrier(CLK_LOCAL_MEM_FENCE);  // the codes and marks are there
  tw_reorder(stage, count, 0);
  for (uint run = TW_RUN; run < longest; run *= 2) tw_reorder(stage, count, run);
#if TW_VALUE_BYTES
  tw_value value[TW_ITEMS];
  _Pragma("unroll") for (uint q = 0; q < TW_ITEMS; ++q) {
    const uint slot = TW_STRIPED(q);
    if (slot >= count) continue;
    const uint place = stage->place[slot];
    value[q] = mode & TW_INDICES ? (tw_value)(before + place - tw_span_of(stage, slot).begin) : values[place];
  }
#endif
  barrier(CLK_GLOBAL_MEM_FENCE);  // keys and values are read, and may be written over
  _Pragma("unroll") for (uint q = 0; q < TW_ITEMS; ++q) {
    const uint slot = TW_STRIPED(q);
    if (slot >= count) continue;
    keys_out[slot] = mode & TW_DECODE ? tw_decode(stage->code[slot], code) : stage->code[slot];
#if TW_VALUE_BYTES
    values_out[slot] = value[q];
#endif
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_segments(
    TW_MOVED, __global const long* offsets, ulong offsets_first, __global const tw_border* border, ulong first_tile) {
  __local tw_stage stage;
  __local uint longer[TW_TILE / TW_MARKED + 1], longer_ones, longest;
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0);
  const tw_tile tile = tw_tile_of(border, first_tile + get_group_id(0));
  if (me == 0) longer_ones = longest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // none is known yet
  for (uint k = me; k < tile.count; k += TW_GROUP) {
    const tw_segment s = tw_segment_of(tile, offsets + offsets_first, k);
    const tw_span segment = {s.at, s.at + s.length};
    atomic_max(&longest, s.length);
    if (s.length >= TW_MARKED)
      longer[atomic_inc(&longer_ones)] = k;
    else
      tw_mark(&stage, segment, 0, 1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the longer ones are known
  const uint ones = longer_ones, most = longest;
  for (uint i = 0; i < ones; ++i) {
    const tw_segment s = tw_segment_of(tile, offsets + offsets_first, longer[i]);
    const tw_span segment = {s.at, s.at + s.length};
    tw_mark(&stage, segment, me, TW_GROUP);
  }
  tw_sort_stage(&stage, keys + first_key + tile.begin, values + first_value + tile.begin,
                keys_out + first_key_out + tile.begin, values_out + first_value_out + tile.begin, tile.length, most, 0,
                code, mode);
}

// A chunk of a long segment, which is the segment's chunk `number`; and what all chunks are. The host has the same.
typedef struct {
  ulong begin, length, number;  // begin and length are the segment's
} tw_chunk;
typedef struct {
  uint chunks, passes, alone, unused;  // passes: of the segment that has most
} tw_chunks_found;

// How many passes merge a segment's chunks into one run.
static inline uint tw_passes_of(ulong length) { return 64 - (uint)clz((length - 1) >> TW_LOG_TILE); }

// Lists the chunks of long segments. Segments of at least `least_alone` elements have none: the host sorts them, and
// gets their begin and length.
__kernel void tw_cut(__global const long* offsets, ulong offsets_first, __global const ulong* long_segment,
                     ulong long_segments, ulong least_alone, __global tw_chunk* chunks, __global ulong2* alone,
                     __global volatile tw_chunks_found* found, ulong first_tile) {
  const ulong i = (first_tile + get_group_id(0)) * TW_GROUP + get_local_id(0);
  if (i >= long_segments) return;
  const ulong s = long_segment[i];
  const ulong begin = (ulong)offsets[offsets_first + s], length = (ulong)offsets[offsets_first + s + 1] - begin;
  if (length >= least_alone) {
    alone[atomic_inc(&found->alone)] = (ulong2)(begin, length);
    return;
  }
  atomic_max(&found->passes, tw_passes_of(length));
  const uint count = (uint)((length - 1) >> TW_LOG_TILE) + 1, at = atomic_add(&found->chunks, count);
  for (uint c = 0; c < count; ++c) {
    const tw_chunk chunk = {begin, length, c};
    chunks[at + c] = chunk;
  }
}

static inline uint tw_chunk_size(tw_chunk of) { return (uint)min(of.length - of.number * TW_TILE, (ulong)TW_TILE); }

// Whether the runs before this pass lie in the output: the last pass of each segment must write there.
static inline bool tw_is_output(tw_chunk of, uint pass) { return (tw_passes_of(of.length) - pass) % 2 == 0; }

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_chunks(TW_MOVED,
                                                                                   __global tw_key* spare_keys,
                                                                                   __global tw_value* spare_values,
                                                                                   __global const tw_chunk* chunks,
                                                                                   ulong first_tile) {
  __local tw_stage stage;
  const tw_code code = TW_CODE;
  const tw_chunk chunk = chunks[first_tile + get_group_id(0)];
  const ulong before = chunk.number * TW_TILE, first = chunk.begin + before;
  const tw_span all = {0, tw_chunk_size(chunk)};
  tw_mark(&stage, all, get_local_id(0), TW_GROUP);
  const bool to_output = tw_is_output(chunk, 0);
  tw_sort_stage(&stage, keys + first_key + first, values + first_value + first,
                (to_output ? keys_out + first_key_out : spare_keys) + first,
                (to_output ? values_out + first_value_out : spare_values) + first, all.end, all.end, before, code,
                mode | (tw_passes_of(chunk.length) == 0 ? TW_DECODE : 0));
}

// Merges pairs of runs of all long segments that still have several, by their codes; values move along.
__kernel void tw_merge_chunks(__global tw_key* keys, ulong first_key, __global tw_value* values, ulong first_value,
                              TW_CODE_WORDS, __global tw_key* spare_keys, __global tw_value* spare_values,
                              __global const tw_chunk* chunks, uint pass, ulong first_tile) {
  const tw_code code = TW_CODE;
  const tw_chunk chunk = chunks[first_tile + get_group_id(0)];
  const uint passes = tw_passes_of(chunk.length), size = tw_chunk_size(chunk);
  if (pass >= passes) return;
  const bool from_output = tw_is_output(chunk, pass);
  __global tw_key* const output = keys + first_key + chunk.begin;
  __global tw_key* const spare = spare_keys + chunk.begin;
  __global const tw_key* const from = from_output ? output : spare;
  __global tw_key* const to = from_output ? spare : output;
  const ulong run = TW_TILE << pass, own = chunk.number * TW_TILE & ~(run - 1), other = own ^ run;
  const ulong other_size = other < chunk.length ? min(run, chunk.length - other) : 0;
  const bool right = (own & run) != 0;
  for (uint i = get_local_id(0); i < size; i += TW_GROUP) {
    const ulong at = chunk.number * TW_TILE + i;
    const tw_key key = from[at];
    const ulong place = at - (right ? run : 0) + tw_rank_in_memory(from + other, other_size, key, right);
    to[place] = pass + 1 == passes ? tw_decode(key, code) : key;
#if TW_VALUE_BYTES
    __global tw_value* const output_values = values + first_value + chunk.begin;
    __global tw_value* const other_values = spare_values + chunk.begin;
    (from_output ? other_values : output_values)[place] = (from_output ? output_values : other_values)[at];
#endif
  }
}
