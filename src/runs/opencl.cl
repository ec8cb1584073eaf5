// SPDX-License-Identifier: Apache-2.0
// What:   runs/opencl: count the begins of each tile; then, when counts are summed up, write them.
// Order:  none: nothing is computed with keys, which come as their bits.
// Shape:  a group for each tile. Flags are made as memory lies; an item then lists those of its own keys in a row.
// Limits: local memory for a byte and a place for each key of a tile.
// Twins:  serial.cpp, cuda.cu; embedded after order/operators.cl and order/block_tree.cl.

static inline bool tw_begins(__global const TW_T* keys, ulong i, ulong n) {
  return i < n && (i == 0 || keys[i] != keys[i - 1]);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_count(__global const TW_T* keys,
                                                                             ulong keys_first, ulong n,
                                                                             __global long* counts, ulong first_tile) {
  __local uint begins;
  const ulong tile = first_tile + get_group_id(0);
  const int me = get_local_id(0);
  if (me == 0) begins = 0;
  uint own = 0;
  for (int i = me; i < TW_TILE; i += TW_GROUP) own += tw_begins(keys + keys_first, tile * TW_TILE + i, n);
  barrier(CLK_LOCAL_MEM_FENCE);  // the count is 0
  if (own != 0) atomic_add(&begins, own);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me == 0) counts[tile] = begins;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_write(
    __global const TW_T* keys, ulong keys_first, ulong n, ulong tiles, __global const long* counts,
    __global TW_T* run_keys, ulong run_keys_first, __global long* offsets, ulong offsets_first, ulong room,
    ulong first_tile) {
  __local uchar begins[TW_TILE];
  __local ushort list[TW_TILE];
  __local uint up_to[TW_GROUP];
  const ulong tile = first_tile + get_group_id(0);
  const int me = get_local_id(0), each = TW_TILE / TW_GROUP;
  for (int i = me; i < TW_TILE; i += TW_GROUP) begins[i] = tw_begins(keys + keys_first, tile * TW_TILE + i, n);
  barrier(CLK_LOCAL_MEM_FENCE);  // the flags are there
  uint own = 0;
  for (int i = me * each; i < (me + 1) * each; ++i) own += begins[i];
  up_to[me] = own;
  for (int step = 1; step < TW_GROUP; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint before = me >= step ? up_to[me - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    up_to[me] += before;
  }
  uint place = up_to[me] - own;
  for (int i = me * each; i < (me + 1) * each; ++i)
    if (begins[i]) list[place++] = (ushort)i;
  barrier(CLK_LOCAL_MEM_FENCE);  // the list is whole, and so are the sums
  const ulong first = tile == 0 ? 0 : (ulong)counts[tile - 1];
  const uint count = up_to[TW_GROUP - 1];
  for (uint r = me; r < count && first + r <= room; r += TW_GROUP) {
    const ulong i = tile * TW_TILE + list[r];
    offsets[offsets_first + first + r] = (long)i;
    if (first + r < room) run_keys[run_keys_first + first + r] = keys[keys_first + i];
  }
  for (ulong r = (ulong)counts[tiles - 1] + tile * TW_GROUP + me; r <= room; r += tiles * TW_GROUP) {
    offsets[offsets_first + r] = (long)n;
    if (r < room) run_keys[run_keys_first + r] = 0;
  }
}
