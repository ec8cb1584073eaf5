// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis/opencl. Values: the block value of every whole tile of each line; these are lines of a higher
//         level, scanned by the same two kernels until one tile holds them. Prefixes: each tile's outputs from its
//         carry.
// Order:  a tile is an aligned block, so the scan of the tiles' values gives P at each tile's begin, from which
//         prefixes descend. Inclusive output i is P(i+1); a tile's last one is the next tile's carry.
// Shape:  a group holds 2^log_lines lines and 2^log_length elements of each, read and written in the order in which
//         they lie in memory; an item takes a run of 2^log_run elements of one line, and the runs of a line meet as a
//         butterfly, so that each item knows every block on its left.
// Limits: local memory for TW_TILE elements; works in place.
// Twins:  scan_axis_serial.cpp, scan_axis_cuda.cu; embedded after order/operators.cl and order/block_tree.cl.

// What a level outputs; scan_axis_opencl.cpp has the same numbers.
#define TW_INCLUSIVE 1  // out[i] = P(i+1), else P(i)
#define TW_SPINE 2      // the elements are tiles' values: out[n] = P(n) is written too, NaNs stay as they are

// One place in 33 is left out, so that runs begin in different banks.
#define TW_PLACE(i) ((i) + ((i) >> 5))
#define TW_STAGE (TW_PLACE(TW_GROUP << TW_LOG_ITEMS) + 1)

typedef struct {
  uint log_length, log_lines, log_run, by_rows;
} tw_shape;

static inline tw_shape tw_shape_of(uint packed) {
  const tw_shape s = {packed & 255, packed >> 8 & 255, packed >> 16 & 255, packed >> 24};
  return s;
}

// Element `place` of the stage: lines lie one after another where they are rows, and side by side where columns.
static inline uint tw_element(tw_shape s, uint place) {
  return s.by_rows ? place & ((1u << s.log_length) - 1) : place >> s.log_lines;
}
static inline uint tw_line(tw_shape s, uint place) {
  return s.by_rows ? place >> s.log_length : place & ((1u << s.log_lines) - 1);
}

// What an item works on: run `run` of line `line`, at stage[TW_PLACE(first + i * step)]; its neighbour on the right is
// `beside` items further.
typedef struct {
  uint line, run, first, step, beside;
} tw_run;

static inline tw_run tw_my_run(tw_shape s) {
  const uint me = get_local_id(0), log_runs = s.log_length - s.log_run;
  const uint line = s.by_rows ? me >> log_runs : me & ((1u << s.log_lines) - 1);
  const uint run = s.by_rows ? me & ((1u << log_runs) - 1) : me >> s.log_lines;
  const tw_run mine = {line, run, s.by_rows ? me << s.log_run : (run << s.log_run << s.log_lines) | line,
                       s.by_rows ? 1 : 1u << s.log_lines, s.by_rows ? 1 : 1u << s.log_lines};
  return mine;
}

// Element e of line l is from[first + e * element + l * line]; what is missing is the identity.
static inline void tw_load(__global const TW_T* from, ulong first, ulong element, ulong line, ulong length, ulong lines,
                           tw_shape s, __local TW_T* stage) {
  for (uint k = 0; k < 1u << s.log_run; ++k) {
    const uint i = k * TW_GROUP + get_local_id(0), e = tw_element(s, i), l = tw_line(s, i);
    stage[TW_PLACE(i)] = e < length && l < lines ? from[first + e * element + l * line] : TW_IDENTITY;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the tile is loaded; in place, it may now be written over
}

static inline TW_T tw_take_run(tw_shape s, tw_run at, __local const TW_T* stage, TW_T* mine) {
  _Pragma("unroll") for (uint i = 0; i < TW_ITEMS; ++i) {
    mine[i] = i < 1u << s.log_run ? stage[TW_PLACE(at.first + i * at.step)] : TW_IDENTITY;
  }
  return tw_item_up(mine);
}

// The line's value from the values of its runs. On the way `left` gets the neighbouring block on each level.
static inline TW_T tw_meet(tw_shape s, tw_run at, TW_T value, TW_T* left, __local TW_T* items) {
  const uint me = get_local_id(0);
  _Pragma("unroll") for (uint k = 0; k < TW_LOG_GROUP; ++k) {
    left[k] = TW_IDENTITY;
    if (k < s.log_length - s.log_run) {
      __local TW_T* level = items + (k & 1) * TW_GROUP;  // by turns: who is late still reads the other
      level[me] = value;
      barrier(CLK_LOCAL_MEM_FENCE);  // this level's blocks are there
      left[k] = level[me ^ at.beside << k];
      value = tw_apply(value, left[k]);
    }
  }
  return value;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_values(__global const TW_T* in, ulong in_first,
                                                                              ulong element, ulong line, ulong lines,
                                                                              uint shape, __global TW_T* values,
                                                                              ulong first_tile) {
  __local TW_T stage[TW_STAGE], items[2 * TW_GROUP];
  const tw_shape s = tw_shape_of(shape);
  const ulong bands = (lines + (1ul << s.log_lines) - 1) >> s.log_lines, group = first_tile + get_group_id(0);
  const ulong tile = group / bands, begin = group % bands << s.log_lines;
  const tw_run at = tw_my_run(s);
  TW_T mine[TW_ITEMS], left[TW_LOG_GROUP];
  tw_load(in, in_first + (tile << s.log_length) * element + begin * line, element, line, 1ul << s.log_length,
          lines - begin, s, stage);
  const TW_T value = tw_meet(s, at, tw_take_run(s, at, stage, mine), left, items);
  if (at.run == 0 && at.line < lines - begin) values[tile * lines + begin + at.line] = value;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_prefixes(
    __global const TW_T* in, ulong in_first, ulong in_element, ulong in_line, ulong lines, ulong n, uint shape,
    __global const TW_T* carries, uint has_carries, __global TW_T* out, ulong out_first, ulong out_element,
    ulong out_line, TW_T init, uint mode, ulong last_group, ulong first_tile) {
  __local TW_T stage[TW_STAGE], items[2 * TW_GROUP];
  const tw_shape s = tw_shape_of(shape);
  // Backwards: what the previous pass read last is still in the cache, and is read first.
  const ulong group = last_group - (first_tile + get_group_id(0));
  const ulong bands = (lines + (1ul << s.log_lines) - 1) >> s.log_lines;
  const ulong tile = group / bands, begin = group % bands << s.log_lines, row = tile << s.log_length;
  const ulong length = min(n - row, 1ul << s.log_length), present = min(lines - begin, 1ul << s.log_lines);
  const tw_run at = tw_my_run(s);
  const uint me = get_local_id(0);
  tw_load(in, in_first + row * in_element + begin * in_line, in_element, in_line, length, present, s, stage);
  TW_T mine[TW_ITEMS], left[TW_LOG_GROUP], before = TW_IDENTITY;
  TW_T after = tw_meet(s, at, tw_take_run(s, at, stage, mine), left, items);
  if (has_carries && at.line < present) {
    const ulong carry = tile * lines + begin + at.line;
    before = carries[carry];
    if (length >> s.log_length != 0) after = carries[carry + lines];
  }
  const TW_T end = after;
  _Pragma("unroll") for (int k = TW_LOG_GROUP; k-- > 0;) {
    if (at.run >> k & 1) before = tw_apply(before, left[k]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the last level has been read
  items[me] = before;
  barrier(CLK_LOCAL_MEM_FENCE);  // every run's begin is there
  if (at.run + 1 < 1u << (s.log_length - s.log_run)) after = items[me + at.beside];
  tw_item_down(mine, before);
  _Pragma("unroll") for (uint i = 0; i < TW_ITEMS; ++i) {
    if (i >= 1u << s.log_run) continue;
    const TW_T next = i + 1 < 1u << s.log_run ? mine[min(i + 1, (uint)TW_ITEMS - 1)] : after;
    const TW_T prefix = mode & TW_INCLUSIVE ? next : mine[i];
    stage[TW_PLACE(at.first + i * at.step)] = mode & TW_SPINE ? prefix : tw_canonical(tw_apply(init, prefix));
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the results are stored
  const ulong outputs = mode & TW_SPINE ? length + 1 : length;
  const ulong out_begin = out_first + row * out_element + begin * out_line;
  for (uint k = 0; k < 1u << s.log_run; ++k) {
    const uint i = k * TW_GROUP + me, e = tw_element(s, i), l = tw_line(s, i);
    if (e < outputs && l < present) out[out_begin + e * out_element + l * out_line] = stage[TW_PLACE(i)];
  }
  if (mode & TW_SPINE && row + (1ul << s.log_length) == n && at.run == 0 && at.line < present)
    out[out_begin + length * out_element + at.line * out_line] = end;
}
