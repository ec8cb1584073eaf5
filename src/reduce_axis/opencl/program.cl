// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis/opencl. Values (line_tile.cl): the block value of every whole tile of each line, then of every
//         whole tile of those, until less than a tile of a line is left. Finish: what is left on one level, after the
//         prefix of the levels above; with kernels of their own where that is at most a run.
// Order:  that of reduce/opencl/program.cl, for each line: tiles are aligned blocks, what is left over are the digits
//         of the length.
// Shape:  line_tile.cl; of short lines an item takes one after another.
// Limits: local memory for TW_TILE elements.
// Twins:  serial.cpp, cuda/variants.cu; embedded after line_tile.cl.

// `before` continued by `count` elements, of whose tree `mine` has the left children. Going down, the half that is left
// moves to the front: a place that depended on `count` would take `mine` out of registers.
#define TW_DEFINE_PREFIX(NAME, LOG)                                                                                  \
  static inline TW_T NAME(const TW_T* mine, TW_T root, TW_T before, uint count) {                                    \
    if (count == 1u << (LOG)) return tw_apply(before, root);                                                         \
    TW_T below[1 << (LOG)];                                                                                          \
    _Pragma("unroll") for (int i = 0; i < 1 << (LOG); ++i) below[i] = mine[i];                                       \
    _Pragma("unroll") for (int k = (LOG); k-- > 0;) {                                                                \
      const bool is_right = count >> k & 1;                                                                          \
      if (is_right) before = tw_apply(before, below[(1 << k) - 1]);                                                  \
      _Pragma("unroll") for (int i = 0; i < (1 << k) - 1; ++i) below[i] = is_right ? below[i + (1 << k)] : below[i]; \
    }                                                                                                                \
    return before;                                                                                                   \
  }
TW_DEFINE_PREFIX(tw_prefix_in_run, TW_LOG_ITEMS)
TW_DEFINE_PREFIX(tw_prefix_in_line, TW_LOG_SHORT)

// What a level outputs; variants.cpp has the same numbers.
#define TW_HAS_PREFIXES 1  // of the levels above
#define TW_IS_RESULT 2     // else a prefix for the level below

static inline TW_T tw_before(__global const TW_T* prefixes, ulong line, uint mode) {
  return mode & TW_HAS_PREFIXES ? prefixes[line] : TW_IDENTITY;
}
static inline TW_T tw_output(TW_T prefix, TW_T init, uint mode) {
  return mode & TW_IS_RESULT ? tw_canonical(tw_apply(init, prefix)) : prefix;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_finish(__global const TW_T* in, ulong in_first,
                                                                              tw_lines of, tw_shape s,
                                                                              __global const TW_T* prefixes, TW_T init,
                                                                              uint mode, __global TW_T* out,
                                                                              ulong out_first, ulong first_tile) {
  __local TW_T stage[TW_STAGE], meetings[TW_MEETINGS];
  const tw_place p = tw_place_of(s, of, first_tile + get_group_id(0));
  const tw_run at = tw_own_run(s, p);
  const ulong first = in_first + tw_first_of(p, of), line = p.line + at.line;
  TW_T mine[TW_ITEMS], left[TW_LOG_GROUP];
  tw_load_stage(!TW_IS_DIRECT, s, of, p, in, first, stage);
  tw_take_run(s, of, at, in, first, stage, mine);
  const TW_T root = tw_item_up(mine), value = tw_meet(at, root, left, meetings);
  const bool is_whole = p.length >> s.log_length != 0;
  if (at.line >= p.present || at.number != (is_whole ? 0 : p.length >> s.log_run)) return;
  const TW_T before = tw_before(prefixes, line, mode);
  const TW_T prefix =
      is_whole ? tw_apply(before, value) : tw_prefix_in_run(mine, root, tw_prefix_of_run(at, before, left), at.count);
  out[out_first + line] = tw_output(prefix, init, mode);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_finish_short(
    __global const TW_T* in, ulong in_first, tw_lines of, tw_shape s, __global const TW_T* prefixes, TW_T init,
    uint mode, __global TW_T* out, ulong out_first, ulong first_tile) {
  __local TW_T stage[TW_STAGE];
  const tw_place p = tw_place_of(s, of, first_tile + get_group_id(0));
  const ulong first = in_first + tw_first_of(p, of);
  tw_load_stage(s.by_rows, s, of, p, in, first, stage);
  for (uint l = get_local_id(0); l < p.present; l += TW_GROUP) {
    TW_T mine[TW_SHORT];
    _Pragma("unroll") for (uint i = 0; i < TW_SHORT; ++i) {
      mine[i] = TW_IDENTITY;
      if (i < p.length) mine[i] = s.by_rows ? stage[TW_PLACE(l * s.pitch + i)] : in[first + l + i * of.element];
    }
    const TW_T before = tw_before(prefixes, p.line + l, mode), root = tw_short_up(mine);
    out[out_first + p.line + l] = tw_output(tw_prefix_in_line(mine, root, before, p.length), init, mode);
  }
}
