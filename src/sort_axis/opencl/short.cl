// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis/opencl: short lines, each an item's alone (tw_sort_short).
// Order:  by code (sort/code.hpp).
// Shape:  an item sorts TW_EACH lines of up to TW_HELD elements in registers by Batcher's network. Columns are read
//         straight from memory, where neighbouring items read neighbours. Rows pass through local memory, which is
//         filled in the order in which memory lies; without gaps between rows it is a copy of memory. All of an item's
//         loads are under way at once.
// Limits: works in place.
// Twins:  cuda/short.cuh; embedded after program.cl. variants.cpp gives TW_BY_ROWS and TW_EACH.
#ifndef TW_BY_ROWS
#define TW_BY_ROWS 1
#define TW_EACH 1
#endif
#define TW_LINES (TW_GROUP * TW_EACH)
#define TW_LOADS (TW_EACH * TW_HELD)

// One place in 33 is left out, so that lines of even lengths begin in different banks.
#define TW_PLACE(i) ((i) + ((i) >> 5))

// Sorts `length` elements of a line that are there, and decodes them.
static inline void tw_sort_one(tw_key* own, uint length, tw_code code) {
  _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) own[i] = i < length ? tw_encode(own[i], code) : ~(tw_key)0;
  tw_sort_held(own);
  _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) own[i] = tw_decode(own[i], code);
}

#if TW_BY_ROWS
// Where element i of the tile's rows lies, from the first one on; reciprocal is 2^32 by the length, rounded up, or 0
// where the length is 1.
static inline ulong tw_between_gaps(uint i, uint length, uint reciprocal, ulong pitch) {
  const uint line = reciprocal == 0 ? i : mul_hi(i, reciprocal);
  return line * pitch + (i - line * length);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_short(TW_LINES_IN, TW_LINES_OUT,
                                                                                  ulong count, uint length,
                                                                                  uint reciprocal, TW_CODE_WORDS,
                                                                                  ulong first_tile) {
  __local tw_key stage[TW_PLACE(TW_LINES * TW_HELD) + 1];
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0);
  const ulong first = (first_tile + get_group_id(0)) * TW_LINES;
  const uint present = (uint)min(count - first, (ulong)TW_LINES), elements = present * length;
  __global const tw_key* from = in + in_first + first * in_line;
  tw_key own[TW_LOADS];
  if (in_line == length) {  // those past the end read the last element instead
    _Pragma("unroll") for (uint q = 0; q < TW_LOADS; ++q) own[q] = from[min((uint)TW_STRIPED(q), elements - 1)];
  } else {
    _Pragma("unroll") for (uint q = 0; q < TW_LOADS; ++q) own[q] =
        from[tw_between_gaps(min((uint)TW_STRIPED(q), elements - 1), length, reciprocal, in_line)];
  }
  _Pragma("unroll") for (uint q = 0; q < TW_LOADS; ++q) stage[TW_PLACE(TW_STRIPED(q))] = own[q];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the rows are loaded, and may be overwritten
  _Pragma("unroll") for (uint k = 0; k < TW_EACH; ++k) {
    const uint begin = TW_STRIPED(k) * length;
    _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) own[i] = stage[TW_PLACE(begin + min(i, length - 1))];
    tw_sort_one(own, length, code);
    _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) {
      if (i < length) stage[TW_PLACE(begin + i)] = own[i];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the rows are sorted
  __global tw_key* to = out + out_first + first * out_line;
  if (out_line == length) {
    _Pragma("unroll") for (uint q = 0; q < TW_LOADS; ++q) {
      if (TW_STRIPED(q) < elements) to[TW_STRIPED(q)] = stage[TW_PLACE(TW_STRIPED(q))];
    }
  } else {
    _Pragma("unroll") for (uint q = 0; q < TW_LOADS; ++q) {
      if (TW_STRIPED(q) < elements)
        to[tw_between_gaps(TW_STRIPED(q), length, reciprocal, out_line)] = stage[TW_PLACE(TW_STRIPED(q))];
    }
  }
}
#else
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_short(TW_LINES_IN, TW_LINES_OUT,
                                                                                  ulong count, uint length,
                                                                                  uint reciprocal, TW_CODE_WORDS,
                                                                                  ulong first_tile) {
  const tw_code code = TW_CODE;
  const ulong first = (first_tile + get_group_id(0)) * TW_LINES + get_local_id(0);
  tw_key own[TW_EACH][TW_HELD];
  _Pragma("unroll") for (uint k = 0; k < TW_EACH; ++k) {  // those past the end read the last element instead
    __global const tw_key* from = in + in_first + min(first + k * TW_GROUP, count - 1);
    _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) own[k][i] = from[min(i, length - 1) * in_element];
  }
  _Pragma("unroll") for (uint k = 0; k < TW_EACH; ++k) {
    tw_sort_one(own[k], length, code);
    __global tw_key* to = out + out_first + first + k * TW_GROUP;
    _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) {
      if (first + k * TW_GROUP < count && i < length) to[i * out_element] = own[k][i];
    }
  }
}
#endif
