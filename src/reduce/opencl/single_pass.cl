// SPDX-License-Identifier: Apache-2.0
// What:   reduce/opencl:single_pass: each group sends the value of its tile, and the group that is done last finishes.
// Order:  a tile is an aligned block; the tiles and the elements after the last one are the binary digits of n, highest
//         first.
// Shape:  one launch, one group per tile.
// Limits: local memory for one tile of elements; fewer tiles than a tile has elements.
// Twins:  serial.cpp, cuda/variants.cu; embedded after backend/opencl/packet.cl and program.cl.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_reduce(__global const TW_T* in, ulong in_first,
                                                                              ulong n, tw_words board, uint launch,
                                                                              uint drawn, __global TW_T* out,
                                                                              ulong out_first, TW_T init, uint has_init,
                                                                              ulong first_tile) {
  __local TW_T nodes[TW_TILE], items[TW_PADDED_GROUP], tops[TW_TOPS];
  __local uint ticket;
  const uint me = get_local_id(0), tiles = (uint)(n / TW_TILE), tail = (uint)(n % TW_TILE);
  const uint tile = (uint)first_tile + get_group_id(0);
  const TW_T value = tw_tile_value(in, in_first, n, tile, nodes, items, tops);
  if (me == 0 && tile < tiles) tw_send(tw_packet(board, tile), value, launch);
  if (me == 0) ticket = tw_draw(board, drawn);
  barrier(CLK_LOCAL_MEM_FENCE);  // the ticket is drawn, and nobody reads the nodes any more
  if (ticket + 1 < tiles) return;
  for (uint i = me; i < tiles; i += TW_GROUP) nodes[i] = tw_receive(tw_packet(board, i), launch);
  TW_T prefix = tw_continue(TW_IDENTITY, nodes, (int)tiles);
  tw_take(in + in_first + n - tail, tail, nodes);
  prefix = tw_continue(prefix, nodes, (int)tail);
  if (me == 0) out[out_first] = tw_canonical(n == 0 ? init : has_init ? tw_apply(init, prefix) : prefix);
}
