// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis/opencl: lines of up to a tile sorted in local memory, several in one group (tw_sort_lines), and
//         lines copied to where they lie side by side in the other direction, or with room behind them (tw_copy_lines).
// Order:  by code (sort_code.hpp). Equal codes are equal bits, so a network, which is not stable, sorts keys.
// Shape:  a line's places are a power of two; bitonic merges double sorted runs, the first step of each with the right
//         run read backwards, so that every comparator has its lesser code in the lower place.
// Limits: TW_GROUP = 2^TW_LOG_GROUP is 64 to 256; works in place.
// Twins:  sort_axis_serial.cpp; embedded after sort/key_code.cl.
#define TW_PLACES 8  // of an item; sort_axis_opencl.cpp has the same number
#define TW_LINES_TILE (TW_GROUP * TW_PLACES)

// Where the elements of lines lie: element e of line l is at first + l * line + e * element.
#define TW_LINES_IN __global const tw_key *in, ulong in_first, ulong in_line, ulong in_element
#define TW_LINES_OUT __global tw_key *out, ulong out_first, ulong out_line, ulong out_element

// The line and element of place i of the tile, in the order in which they lie in memory; .x is the line.
static inline uint2 tw_place(uint i, bool by_rows, uint log_length) {
  const uint log_lines = TW_LOG_GROUP + 3 - log_length;
  return by_rows ? (uint2)(i >> log_length, i & ((1u << log_length) - 1))
                 : (uint2)(i & ((1u << log_lines) - 1), i >> log_lines);
}

// One step: places `distance` apart are put in order, or, in the first step of a merge, those that mirror each other.
static inline void tw_compare(__local tw_key* codes, uint log_distance, bool mirrored) {
  const uint distance = 1u << log_distance;
  _Pragma("unroll") for (int q = 0; q < TW_PLACES / 2; ++q) {
    const uint pair = TW_STRIPED(q), low = (pair >> log_distance) << (log_distance + 1) | (pair & (distance - 1));
    const uint high = mirrored ? low ^ (2 * distance - 1) : low + distance;
    const tw_key a = codes[low], b = codes[high];
    codes[low] = min(a, b);
    codes[high] = max(a, b);
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_lines(TW_LINES_IN, TW_LINES_OUT,
                                                                                  ulong count, uint length,
                                                                                  uint log_length, TW_CODE_WORDS,
                                                                                  ulong first_tile) {
  __local tw_key codes[TW_LINES_TILE];
  const tw_code code = TW_CODE;
  const ulong first = (first_tile + get_group_id(0)) * (TW_LINES_TILE >> log_length);
  for (int q = 0; q < TW_PLACES; ++q) {
    const uint2 p = tw_place(TW_STRIPED(q), in_element == 1, log_length);
    tw_key key = ~(tw_key)0;  // behind a line
    if (first + p.x < count && p.y < length)
      key = tw_encode(in[in_first + (first + p.x) * in_line + p.y * in_element], code);
    codes[p.x << log_length | p.y] = key;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the lines are loaded, and may be overwritten
  for (uint log_run = 0; log_run < log_length; ++log_run)
    for (uint step = 0; step <= log_run; ++step) {
      tw_compare(codes, log_run - step, step == 0);
      barrier(CLK_LOCAL_MEM_FENCE);  // all places are in order so far
    }
  for (int q = 0; q < TW_PLACES; ++q) {
    const uint2 p = tw_place(TW_STRIPED(q), out_element == 1, log_length);
    if (first + p.x < count && p.y < length)
      out[out_first + (first + p.x) * out_line + p.y * out_element] = tw_decode(codes[p.x << log_length | p.y], code);
  }
}

// Copies lines by squares, which are read and written in the order in which they lie in memory. With TW_ENCODE what is
// written are codes, up to `room` elements of a line, of which those behind its end are the greatest.
#define TW_SIDE 32
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_copy_lines(TW_LINES_IN, TW_LINES_OUT,
                                                                                  ulong count, ulong length, ulong room,
                                                                                  ulong bands, TW_CODE_WORDS, uint mode,
                                                                                  ulong first_tile) {
  __local tw_key square[TW_SIDE * (TW_SIDE + 1)];
  const tw_code code = TW_CODE;
  const ulong group = first_tile + get_group_id(0), band = group / bands;
  const ulong line = (group - band * bands) * TW_SIDE, element = band * TW_SIDE;
  const uint x = get_local_id(0) % TW_SIDE, y = get_local_id(0) / TW_SIDE;
  for (uint k = y; k < TW_SIDE; k += TW_GROUP / TW_SIDE) {
    const uint l = in_element == 1 ? k : x, e = in_element == 1 ? x : k;
    tw_key key = ~(tw_key)0;
    if (line + l < count && element + e < length) {
      key = in[in_first + (line + l) * in_line + (element + e) * in_element];
      if (mode & TW_ENCODE) key = tw_encode(key, code);
    }
    square[e * (TW_SIDE + 1) + l] = key;
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the square is loaded
  for (uint k = y; k < TW_SIDE; k += TW_GROUP / TW_SIDE) {
    const uint l = out_element == 1 ? k : x, e = out_element == 1 ? x : k;
    if (line + l >= count || element + e >= room) continue;
    const tw_key key = square[e * (TW_SIDE + 1) + l];
    out[out_first + (line + l) * out_line + (element + e) * out_element] =
        mode & TW_DECODE ? tw_decode(key, code) : key;
  }
}
