// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis/opencl: lines of up to a tile sorted in local memory, several in one group (tw_sort_lines).
// Order:  by code (sort/code.hpp).
// Shape:  as many items as hold a line's elements, a power of two, merge what each has sorted; of short lines each is
//         an item's alone. Lines are loaded and stored in the order in which they lie in memory, and all of an item's
//         loads are under way at once.
// Limits: columns lie side by side in a tile, so that of long ones there are few; works in place.
// Twins:  cuda/short.cuh; embedded after program.cl. variants.cpp gives TW_BY_ROWS.
#ifndef TW_BY_ROWS
#define TW_BY_ROWS 1
#endif

// The line, and the element of it, of place i of the tile, in the order in which they lie in memory; .x is the line.
// `reciprocal` is 2^32 by the length, rounded up, or 0 where the length is 1.
static inline uint2 tw_place(uint i, uint length, uint reciprocal, uint log_lines) {
#if TW_BY_ROWS
  const uint line = reciprocal == 0 ? i : mul_hi(i, reciprocal);
  return (uint2)(line, i - line * length);
#else
  return (uint2)(i & ((1u << log_lines) - 1), i >> log_lines);
#endif
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_lines(TW_LINES_IN, TW_LINES_OUT,
                                                                                  ulong count, uint length,
                                                                                  uint reciprocal, uint log_items,
                                                                                  TW_CODE_WORDS, ulong first_tile) {
  __local tw_key tile[TW_SLOTS];
  __local tw_key* slots = tile + TW_HELD;
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0), log_lines = TW_LOG_GROUP - log_items, pitch = TW_HELD << log_items;
  const ulong first = (first_tile + get_group_id(0)) << log_lines;
  const uint present = (uint)min(count - first, 1ul << log_lines);
  // A row of columns has places for those that are missing, too; nothing is read from there.
  const uint places = (TW_BY_ROWS ? present : 1u << log_lines) * length;
  __global const tw_key* from = in + in_first + first * in_line;
  tw_key own[TW_HELD];
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) {  // those past the end read the last element instead
    const uint2 p = tw_place(min((uint)TW_STRIPED(q), places - 1), length, reciprocal, log_lines);
    own[q] = from[min(p.x, present - 1) * in_line + p.y * in_element];
  }
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) {
    const uint2 p = tw_place(TW_STRIPED(q), length, reciprocal, log_lines);
    if (TW_STRIPED(q) < places) slots[p.x * pitch + p.y] = tw_encode(own[q], code);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);           // the lines are loaded, and may be overwritten
  const uint mine = (me & ((1u << log_items) - 1)) * TW_HELD;    // in its line,
  const uint filled = (me >> log_items) < present ? length : 0;  // which has so many elements
  _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) own[i] =
      mine + i < filled ? slots[me * TW_HELD + i] : ~(tw_key)0;  // the greatest codes stay after a line's end
  tw_sort_runs(slots, own, 1u << log_items);
  barrier(CLK_LOCAL_MEM_FENCE);  // the lines are sorted
  __global tw_key* to = out + out_first + first * out_line;
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) {
    const uint2 p = tw_place(TW_STRIPED(q), length, reciprocal, log_lines);
    if (TW_STRIPED(q) < places && p.x < present)
      to[p.x * out_line + p.y * out_element] = tw_decode(slots[p.x * pitch + p.y], code);
  }
}
