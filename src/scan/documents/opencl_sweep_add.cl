// SPDX-License-Identifier: Apache-2.0
// What:   scan/opencl:sweep_add. tw_sweep scans each tile by itself: an upsweep, whose total is kept, and a downsweep
//         from the identity to the exclusive scan, which is stored shifted by one with the total at its end. tw_add
//         adds the scan of the totals before a tile to each of its elements.
// Order:  its own: a tile's elements are added before the tiles ahead of it are.
// Shape:  two elements per item, groups of a power of two; tw_add has one group for each tile but the first.
// Limits: local memory for one tile of elements; sums only.
// Twins:  serial.cpp; embedded after opencl/program.cl, whose sweeps of pairs it uses.
__kernel __attribute__((reqd_work_group_size(TW_PAIRS, 1, 1))) void tw_sweep(__global const TW_T* in, ulong in_first,
                                                                             ulong count, __global TW_T* out,
                                                                             ulong out_first, __global TW_T* totals,
                                                                             ulong first_tile) {
  __local TW_T nodes[TW_PAIR_TILE];
  const int me = get_local_id(0), last = (int)TW_PAIR_TILE - 1;
  const ulong tile = first_tile + get_group_id(0), begin = tile * TW_PAIR_TILE;
  tw_load_pairs(in, in_first, count, tile, nodes);
  tw_upsweep(nodes);
  TW_T total = TW_IDENTITY;
  if (me == 0) {
    total = nodes[last];
    totals[tile] = total;
    nodes[last] = TW_IDENTITY;
  }
  tw_downsweep(nodes);
  for (int i = me; i < last; i += TW_PAIRS)
    if (begin + i < count) out[out_first + begin + i] = nodes[i + 1];
  if (me == 0 && begin + last < count) out[out_first + begin + last] = total;
}

__kernel __attribute__((reqd_work_group_size(TW_PAIRS, 1, 1))) void tw_add(__global TW_T* out, ulong out_first,
                                                                           ulong count, __global const TW_T* totals,
                                                                           ulong first_tile) {
  const ulong tile = first_tile + get_group_id(0) + 1, begin = tile * TW_PAIR_TILE;
#ifdef TW_CARRY_DIRECT
  const TW_T carry = totals[tile - 1];
#else
  __local TW_T shared_carry;
  if (get_local_id(0) == 0) shared_carry = totals[tile - 1];
  barrier(CLK_LOCAL_MEM_FENCE);  // the carry is stored
  const TW_T carry = shared_carry;
#endif
  for (ulong i = begin + get_local_id(0); i < min(begin + TW_PAIR_TILE, count); i += TW_PAIRS)
    out[out_first + i] = tw_apply(carry, out[out_first + i]);
}
