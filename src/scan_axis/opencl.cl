// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis/opencl. Values (line_tile.cl): the block value of every whole tile of each line; these are lines of
//         a higher level, scanned by the same kernels until one tile holds them. Prefixes: each tile's outputs from its
//         carry; with a kernel of their own where lines are at most a run.
// Order:  a tile is an aligned block, so the scan of the tiles' values gives P at each tile's begin, from which
//         prefixes descend. Inclusive output i is P(i+1); a tile's last one is the next tile's carry.
// Shape:  line_tile.cl; outputs are written where elements were, or straight to memory where these were read from it.
// Limits: local memory for TW_TILE elements; works in place.
// Twins:  serial.cpp, cuda.cu; embedded after order/outputs.cl and reduce_axis/opencl/line_tile.cl.

// What a level outputs, beside the bits of order/outputs.cl; opencl.cpp has the same numbers. With TW_SPINE out[n] =
// P(n) is written too.
#define TW_HAS_CARRIES 4  // else each line begins here

TW_DEFINE_OUTPUTS(tw_outputs_of_run, tw_item_down, TW_ITEMS)
TW_DEFINE_OUTPUTS(tw_outputs_of_line, tw_short_down, TW_SHORT)

// Writes the first `count` outputs of the run; the tile begins at matrix[first].
static inline void tw_put_run(tw_shape s, tw_lines to, tw_place p, tw_run at, const TW_T* mine, __local TW_T* stage,
                              __global TW_T* matrix, ulong first) {
  if (TW_IS_DIRECT) {
    const ulong begin = first + tw_run_in(s, to, at);
    _Pragma("unroll") for (uint i = 0; i < TW_ITEMS; ++i) {
      if (i < at.count) matrix[begin + i * to.element] = mine[i];
    }
  } else {
    _Pragma("unroll") for (uint i = 0; i < TW_ITEMS; ++i) {
      if (i < at.count) stage[TW_PLACE(at.first + i * at.step)] = mine[i];
    }
  }
  tw_store_stage(!TW_IS_DIRECT, s, to, p, stage, matrix, first);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_prefixes(
    __global const TW_T* in, ulong in_first, tw_lines from, tw_shape s, __global const TW_T* carries, TW_T init,
    uint mode, __global TW_T* out, ulong out_first, tw_lines to, ulong last_group, ulong first_tile) {
  __local TW_T stage[TW_STAGE], meetings[TW_MEETINGS];
  // Backwards: what the previous pass read last is still in the cache, and is read first.
  const tw_place p = tw_place_of(s, from, last_group - (first_tile + get_group_id(0)));
  const tw_run at = tw_own_run(s, p);
  const ulong first = in_first + tw_first_of(p, from);
  TW_T mine[TW_ITEMS], left[TW_LOG_GROUP], before = TW_IDENTITY;
  tw_load_stage(!TW_IS_DIRECT, s, from, p, in, first, stage);
  tw_take_run(s, from, at, in, first, stage, mine);
  TW_T after = tw_meet(at, tw_item_up(mine), left, meetings);
  const bool is_whole = p.length >> s.log_length != 0;
  if (mode & TW_HAS_CARRIES && at.line < p.present) {
    const ulong carry = p.tile * from.count + p.line + at.line;
    before = carries[carry];
    if (is_whole) after = carries[carry + from.count];
  }
  before = tw_prefix_of_run(at, before, left);
  barrier(CLK_LOCAL_MEM_FENCE);  // the last level and the stage have been read
  meetings[get_local_id(0)] = before;
  barrier(CLK_LOCAL_MEM_FENCE);  // every run's begin is there
  const TW_T end = after;
  if (at.number + 1 < 1u << at.log_runs) after = meetings[get_local_id(0) + (1u << at.first_bit)];
  tw_outputs_of_run(mine, before, after, init, mode);
  tw_place written = p;
  if (mode & TW_SPINE && !is_whole) ++written.length;
  const ulong out_begin = out_first + tw_first_of(p, to);
  tw_put_run(s, to, written, tw_own_run(s, written), mine, stage, out, out_begin);
  const bool ends_line = p.begin + p.length == from.length;
  if (mode & TW_SPINE && is_whole && ends_line && at.number == 0 && at.line < p.present)
    out[out_begin + p.length * to.element + at.line * to.line] = end;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_prefixes_short(
    __global const TW_T* in, ulong in_first, tw_lines from, tw_shape s, __global const TW_T* carries, TW_T init,
    uint mode, __global TW_T* out, ulong out_first, tw_lines to, ulong last_group, ulong first_tile) {
  __local TW_T stage[TW_STAGE];
  const tw_place p = tw_place_of(s, from, last_group - (first_tile + get_group_id(0)));
  const ulong in_begin = in_first + tw_first_of(p, from), out_begin = out_first + tw_first_of(p, to);
  tw_load_stage(s.by_rows, s, from, p, in, in_begin, stage);
  for (uint l = get_local_id(0); l < p.present; l += TW_GROUP) {
    TW_T mine[TW_SHORT];
    _Pragma("unroll") for (uint i = 0; i < TW_SHORT; ++i) {
      mine[i] = TW_IDENTITY;
      if (i < p.length) mine[i] = s.by_rows ? stage[TW_PLACE(l * s.pitch + i)] : in[in_begin + l + i * from.element];
    }
    const TW_T root = tw_short_up(mine);
    tw_outputs_of_line(mine, TW_IDENTITY, root, init, mode);
    const uint outputs = mode & TW_SPINE ? p.length + 1 : p.length;
    _Pragma("unroll") for (uint i = 0; i < TW_SHORT; ++i) {
      if (i >= outputs) continue;
      if (s.by_rows)
        stage[TW_PLACE(l * s.pitch + i)] = mine[i];
      else
        out[out_begin + l + i * to.element] = mine[i];
    }
    if (outputs > TW_SHORT) out[out_begin + l + TW_SHORT * to.element] = root;
  }
  tw_store_stage(s.by_rows, s, to, p, stage, out, out_begin);
}
