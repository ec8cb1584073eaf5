// SPDX-License-Identifier: Apache-2.0
// What:   a tile of several lines of a matrix in the registers of a group: how it is read, and where its blocks meet.
// Order:  an item has a run of one line, an aligned block; the bits of its number that name the run are the levels on
//         which runs meet, two levels between barriers.
// Shape:  TW_GROUP items with 2^log_run elements each. Lines that lie side by side in memory are read straight from it;
//         others pass through local memory, which is filled in the order in which memory lies. Where a tile lies in
//         memory without gaps it does in local memory too, so that rows of any length waste nothing.
// Limits: TW_IS_DIRECT tells whether items read and write their runs in memory: a program has code for one of these
//         alone, since both at once take more registers. Called by whole groups, fewer than 2^32. Lines no longer than
//         a run are for kernels of their own, whose items take one after another.
// Twins:  cuda/tile.cuh; embedded after order/stage.cl.

// As tile.hpp and registry/matrix_shape.hpp have them.
typedef struct {
  uint by_rows, is_contiguous, log_length, log_run, log_lines, pitch, bands;
} tw_shape;
typedef struct {
  ulong count, length, line, element;
} tw_lines;

#define TW_STAGE (TW_PLACE(TW_GROUP << TW_LOG_ITEMS) + 1)
#define TW_MEETINGS (2 * TW_GROUP)

// The tree of a line that is no longer than a run.
#ifndef TW_LOG_SHORT
#define TW_LOG_SHORT TW_LOG_ITEMS
#endif
#define TW_SHORT (1 << TW_LOG_SHORT)
TW_DEFINE_TREE(tw_short, TW_LOG_SHORT)

// Where a group works: `present` lines from `line` on, `length` elements of each from `begin` on.
typedef struct {
  ulong begin, line;
  uint tile, length, present;
} tw_place;

static inline tw_place tw_place_of(tw_shape s, tw_lines of, ulong group) {
  tw_place p;
  p.tile = (uint)group / s.bands;
  p.begin = (ulong)p.tile << s.log_length;
  p.line = (ulong)((uint)group - p.tile * s.bands) << s.log_lines;
  p.length = (uint)min(of.length - p.begin, 1ul << s.log_length);
  p.present = (uint)min(of.count - p.line, 1ul << s.log_lines);
  return p;
}

// The tile's first element.
static inline ulong tw_first_of(tw_place p, tw_lines of) { return p.begin * of.element + p.line * of.line; }

// What an item works on: `count` elements of run `number` of `line`; element i of it is at
// stage[TW_PLACE(first + i * step)]. Bits [first_bit, first_bit + log_runs) of the item's number name the run.
typedef struct {
  uint line, number, count, first, step, first_bit, log_runs;
} tw_run;

static inline tw_run tw_own_run(tw_shape s, tw_place p) {
  const uint me = get_local_id(0);
  tw_run at;
  at.log_runs = s.log_length - s.log_run;
  at.first_bit = s.by_rows ? 0 : s.log_lines;
  at.number = me >> at.first_bit & ((1u << at.log_runs) - 1);
  at.line = s.by_rows ? me >> at.log_runs : me & ((1u << s.log_lines) - 1);
  const uint begin = at.number << s.log_run, left = at.line < p.present && begin < p.length ? p.length - begin : 0;
  at.count = min(left, 1u << s.log_run);
  at.step = s.by_rows ? 1 : s.pitch;
  at.first = s.by_rows ? at.line * s.pitch + begin : begin * s.pitch + at.line;
  return at;
}

// The item's run in memory, from the tile's first element on.
static inline ulong tw_run_in(tw_shape s, tw_lines of, tw_run at) {
  return ((ulong)at.number << s.log_run) * of.element + at.line * of.line;
}

// Where element i of the stage lies in a matrix with gaps, from the tile's first element on; none is all bits set.
#define TW_NOWHERE (~0ul)
static inline ulong tw_between_gaps(tw_shape s, tw_lines of, tw_place p, uint i) {
  const uint log_pitch = s.by_rows ? s.log_length : s.log_lines, major = i >> log_pitch, minor = i & (s.pitch - 1);
  const uint e = s.by_rows ? minor : major, l = s.by_rows ? major : minor;
  return e < p.length && l < p.present ? e * of.element + l * of.line : TW_NOWHERE;
}

// Whether a contiguous tile can move by units of 16 bytes.
static inline bool tw_has_units(ulong first, uint elements) { return (first | elements) % TW_W == 0; }

static inline void tw_put_unit(__local TW_T* stage, uint i, TW_V u) {
  __local TW_T* const at = stage + TW_PLACE(i);
  at[0] = u.s0;
  at[1] = u.s1;
#if TW_W == 4
  at[2] = u.s2;
  at[3] = u.s3;
#endif
}

static inline TW_V tw_get_unit(__local const TW_T* stage, uint i) {
  __local const TW_T* const at = stage + TW_PLACE(i);
#if TW_W == 4
  return (TW_V)(at[0], at[1], at[2], at[3]);
#else
  return (TW_V)(at[0], at[1]);
#endif
}

// Fills the stage from the tile that begins at matrix[first]. All loads are under way before the first value is staged.
static inline void tw_fill_stage(tw_shape s, tw_lines of, tw_place p, __global const TW_T* matrix, ulong first,
                                 __local TW_T* stage) {
  const uint me = get_local_id(0), elements = p.present * p.length;
  if (s.is_contiguous && tw_has_units(first, elements)) {
    __global const TW_V* from = (__global const TW_V*)(matrix + first);
    TW_V loaded[TW_UNITS];
    _Pragma("unroll") for (uint q = 0; q < TW_UNITS; ++q) {
      if ((q * TW_GROUP + me) * TW_W < elements) loaded[q] = from[q * TW_GROUP + me];
    }
    _Pragma("unroll") for (uint q = 0; q < TW_UNITS; ++q) {
      if ((q * TW_GROUP + me) * TW_W < elements) tw_put_unit(stage, (q * TW_GROUP + me) * TW_W, loaded[q]);
    }
  } else {
    TW_T loaded[TW_ITEMS];
    _Pragma("unroll") for (uint q = 0; q < TW_ITEMS; ++q) {
      const uint i = q * TW_GROUP + me;
      const ulong at = !s.is_contiguous ? tw_between_gaps(s, of, p, i) : i < elements ? i : TW_NOWHERE;
      loaded[q] = at == TW_NOWHERE ? TW_IDENTITY : matrix[first + at];
    }
    _Pragma("unroll") for (uint q = 0; q < TW_ITEMS; ++q) stage[TW_PLACE(q * TW_GROUP + me)] = loaded[q];
  }
}

static inline void tw_empty_stage(tw_shape s, tw_lines of, tw_place p, __local const TW_T* stage, __global TW_T* matrix,
                                  ulong first) {
  const uint me = get_local_id(0), elements = p.present * p.length;
  if (s.is_contiguous && tw_has_units(first, elements)) {
    __global TW_V* to = (__global TW_V*)(matrix + first);
    _Pragma("unroll") for (uint q = 0; q < TW_UNITS; ++q) {
      const uint u = q * TW_GROUP + me;
      if (u * TW_W < elements) to[u] = tw_get_unit(stage, u * TW_W);
    }
  } else {
    _Pragma("unroll") for (uint q = 0; q < TW_ITEMS; ++q) {
      const uint i = q * TW_GROUP + me;
      const ulong at = !s.is_contiguous ? tw_between_gaps(s, of, p, i) : i < elements ? i : TW_NOWHERE;
      if (at != TW_NOWHERE) matrix[first + at] = stage[TW_PLACE(i)];
    }
  }
}

// The same for tiles that are staged or not. The barriers are not within the branch: PoCL would compile all that
// follows one once for each way past it, and the ways multiply.
static inline void tw_load_stage(bool is_staged, tw_shape s, tw_lines of, tw_place p, __global const TW_T* matrix,
                                 ulong first, __local TW_T* stage) {
  if (is_staged) tw_fill_stage(s, of, p, matrix, first, stage);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the tile is loaded; in place, it may now be written over
}

static inline void tw_store_stage(bool is_staged, tw_shape s, tw_lines of, tw_place p, __local const TW_T* stage,
                                  __global TW_T* matrix, ulong first) {
  barrier(CLK_LOCAL_MEM_FENCE);  // the results are in the stage
  if (is_staged) tw_empty_stage(s, of, p, stage, matrix, first);
}

// The run from where its elements are, with the identity for those that are missing. The tile begins at matrix[first].
static inline void tw_take_run(tw_shape s, tw_lines of, tw_run at, __global const TW_T* matrix, ulong first,
                               __local const TW_T* stage, TW_T* mine) {
  if (TW_IS_DIRECT) {
    const ulong from = first + tw_run_in(s, of, at);
    _Pragma("unroll") for (uint i = 0; i < TW_ITEMS; ++i) {
      mine[i] = i < at.count ? matrix[from + i * of.element] : TW_IDENTITY;
    }
  } else {
    _Pragma("unroll") for (uint i = 0; i < TW_ITEMS; ++i) {
      mine[i] = i < at.count ? stage[TW_PLACE(at.first + i * at.step)] : TW_IDENTITY;
    }
  }
}

// The line's value from the values of its runs. On the way `left` gets the neighbouring block for each bit of the run's
// number.
static inline TW_T tw_meet(tw_run at, TW_T value, TW_T* left, __local TW_T* meetings) {
  const uint me = get_local_id(0);
  _Pragma("unroll") for (uint k = 0; k < TW_LOG_GROUP; k += 2) {
    __local TW_T* const level = meetings + (k >> 1 & 1) * TW_GROUP;  // alternately: who is late still reads the other
    const uint one = 1u << (at.first_bit + k), two = 2 * one, beyond = (me ^ two) & ~one;
    level[me] = value;
    barrier(CLK_LOCAL_MEM_FENCE);  // this level's blocks are there; for all levels, as in tw_load_stage
    if (k >= at.log_runs) continue;
    left[k] = level[me ^ one];
    value = tw_apply(value, left[k]);
    if (k + 1 >= at.log_runs) continue;
    left[k + 1] = tw_apply(level[beyond], level[beyond | one]);
    value = tw_apply(value, left[k + 1]);
  }
  return value;
}

// P at the run's begin, where `before` is P at the tile's.
static inline TW_T tw_prefix_of_run(tw_run at, TW_T before, const TW_T* left) {
  _Pragma("unroll") for (int k = TW_LOG_GROUP; k-- > 0;) {
    if (at.number >> k & 1) before = tw_apply(before, left[k]);
  }
  return before;
}

// The value of each line of a whole tile.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_values(__global const TW_T* in, ulong in_first,
                                                                              tw_lines of, tw_shape s,
                                                                              __global TW_T* values, ulong values_first,
                                                                              ulong first_tile) {
  __local TW_T stage[TW_STAGE], meetings[TW_MEETINGS];
  const tw_place p = tw_place_of(s, of, first_tile + get_group_id(0));
  const tw_run at = tw_own_run(s, p);
  const ulong first = in_first + tw_first_of(p, of);
  TW_T mine[TW_ITEMS], left[TW_LOG_GROUP];
  tw_load_stage(!TW_IS_DIRECT, s, of, p, in, first, stage);
  tw_take_run(s, of, at, in, first, stage, mine);
  const TW_T value = tw_meet(at, tw_item_up(mine), left, meetings);
  if (at.number == 0 && at.line < p.present) values[values_first + p.tile * of.count + p.line + at.line] = value;
}
