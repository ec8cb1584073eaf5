// SPDX-License-Identifier: Apache-2.0
// What:   reduce/opencl:two_phase. Tiles: the block value of every whole tile, then of every whole tile of those, until
//         less than a tile is left. Finish: what is left on each level, from the highest level down.
// Order:  a whole tile is an aligned block; the ragged ends of the levels are the binary digits of n, highest first.
// Shape:  tiles: one group per tile, any number of groups. Finish: one group.
// Limits: local memory for one tile of elements in the finish.
// Twins:  serial.cpp, cuda/variants.cu; embedded after order/operators.cl and order/block_tree.cl.

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_tiles(__global const TW_T* in, ulong in_first,
                                                                             ulong count, __global TW_T* values,
                                                                             ulong values_first, ulong first_tile) {
  __local TW_T units[TW_PADDED_UNITS], items[TW_PADDED_GROUP], tops[TW_TOPS];
  const ulong tile = first_tile + get_group_id(0);
  const TW_T value = tw_tile_value(in, in_first, count, tile, units, items, tops);
  if (get_local_id(0) == 0) values[values_first + tile] = value;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_finish(__global const TW_T* in, ulong in_first,
                                                                              ulong n, __global const TW_T* values,
                                                                              __global TW_T* out, ulong out_first,
                                                                              TW_T init, uint has_init,
                                                                              ulong first_tile) {
  __local TW_T nodes[TW_TILE];
  const int log_tile = TW_LOG_GROUP + TW_LOG_ITEMS;
  int level = 0;
  while (n >> (level + 1) * log_tile != 0) ++level;
  TW_T prefix = TW_IDENTITY;
  for (; level >= 0; --level) {
    const ulong count = n >> level * log_tile, tail = count % TW_TILE;
    __global const TW_T* from = level == 0 ? in + in_first : values + tw_level_first(n, level);
    tw_take(from + count - tail, (uint)tail, nodes);
    prefix = tw_continue(prefix, nodes, (int)tail);
  }
  if (get_local_id(0) == 0 && first_tile == 0)
    out[out_first] = tw_canonical(n == 0 ? init : has_init ? tw_apply(init, prefix) : prefix);
}
