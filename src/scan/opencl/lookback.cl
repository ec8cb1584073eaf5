// SPDX-License-Identifier: Apache-2.0
// What:   scan/opencl:lookback: one pass over memory. A tile publishes its value, makes its carry from the values that
//         the tiles before it have published, and writes its outputs.
// Order:  a node of level l is the block value of 32^l tiles. The carry of tile t is P(t) over tiles: the digits of t
//         in base 32, highest first, each walked by its binary digits. All carries are folds of block values, never of
//         prefixes, so timing changes nothing.
// Shape:  one group per tile; items 32 l to 32 l + 31 wait for the siblings on level l, all levels at once.
// Limits: local memory for one tile of elements; fewer than 32^levels tiles; a group that has begun must go on while
//         others wait for it. Tiles are drawn in ascending order and publish before they wait, so the oldest one
//         never does for long.
// Twins:  serial.cpp, cuda/lookback.cu, cuda/nodes.cuh; embedded after backend/opencl/packet.cl and program.cl.
#define TW_LOG_SIBLINGS 5
#define TW_SIBLINGS (1 << TW_LOG_SIBLINGS)
#define TW_LEVELS 5  // lookback.cpp has the same number

static inline uint tw_digit(ulong tile, uint level) { return (uint)(tile >> TW_LOG_SIBLINGS * level) % TW_SIBLINGS; }

// The node at place `lane` among the siblings of tile t's node on the level.
static inline tw_words tw_sibling(tw_words board, ulong tiles, ulong tile, uint level, uint lane) {
  ulong first = 0;
  for (uint k = 0; k < level; ++k) first += (tiles >> TW_LOG_SIBLINGS * k) / TW_SIBLINGS + 1;
  first += (tile >> TW_LOG_SIBLINGS * level) / TW_SIBLINGS;
  return tw_packet(board, first * TW_SIBLINGS + lane);
}

// What lies left of tile t's own node among its siblings. Its own is there up to the level `completed`; further right,
// and beyond that level, there are identities.
static inline void tw_gather(tw_words board, ulong tiles, ulong tile, uint level, uint completed, uint lane,
                             uint launch, __local TW_T* nodes) {
  const uint digit = tw_digit(tile, level);
  if (lane == digit && level <= completed) return;
  nodes[level * TW_SIBLINGS + lane] =
      lane < digit ? tw_receive(tw_sibling(board, tiles, tile, level, lane), launch) : TW_IDENTITY;
}

// The tree of 16 neighbours: each left child's value is left at its last element, the root's is returned.
static inline TW_T tw_neighbours_up(__local TW_T* nodes) {
  TW_T v[TW_RADIX];
  _Pragma("unroll") for (int i = 0; i < TW_RADIX; ++i) v[i] = nodes[i];
  const TW_T root = tw_radix_up(v);
  _Pragma("unroll") for (int i = 0; i < TW_RADIX; ++i) nodes[i] = v[i];
  return root;
}

// P at position `digit` (0 to 31) of 32 siblings, where P at their start is `before`.
static inline TW_T tw_walk(__local const TW_T* nodes, uint digit, TW_T before) {
  _Pragma("unroll") for (int bit = TW_LOG_SIBLINGS; bit-- > 0;) {
    if (digit >> bit & 1) before = tw_apply(before, nodes[(digit >> bit << bit) - 1]);
  }
  return before;
}

// P at tile t's start and at its end, in `ends` once item 0 has gone on; `own` is the tile's value, in item 0.
static inline void tw_look_back(tw_words board, ulong tiles, ulong tile, uint levels, uint launch, TW_T own, TW_T first,
                                __local TW_T* nodes, TW_T* ends) {
  const uint me = get_local_id(0);
  uint completed = 0;  // levels on which the tile is the last of 32
  while (tw_digit(tile, completed) == TW_SIBLINGS - 1) ++completed;
  if (me == 0) {
    tw_send(tw_sibling(board, tiles, tile, 0, tw_digit(tile, 0)), own, launch);
    nodes[tw_digit(tile, 0)] = own;
  }
  for (uint level = 0; level < completed; ++level) {
    __local TW_T* here = nodes + level * TW_SIBLINGS;
    if (me < TW_SIBLINGS) tw_gather(board, tiles, tile, level, completed, me, launch, nodes);
    barrier(CLK_LOCAL_MEM_FENCE);  // the siblings are stored
    if (me == 0) {
      const TW_T left = tw_neighbours_up(here), node = tw_apply(left, tw_neighbours_up(here + TW_RADIX));
      tw_send(tw_sibling(board, tiles, tile, level + 1, tw_digit(tile, level + 1)), node, launch);
      here[TW_SIBLINGS + tw_digit(tile, level + 1)] = node;
    }
  }
  for (uint i = me; i < (levels - completed) * TW_SIBLINGS; i += TW_GROUP)
    tw_gather(board, tiles, tile, completed + i / TW_SIBLINGS, completed, i % TW_SIBLINGS, launch, nodes);
  barrier(CLK_LOCAL_MEM_FENCE);  // all siblings are stored
  if (me >= 2 * completed && me < 2 * levels) tw_neighbours_up(nodes + me * TW_RADIX);
  barrier(CLK_LOCAL_MEM_FENCE);  // and so are their trees
  if (me != 0) return;
  TW_T before = first;
  for (uint level = levels; level-- > 0;) {
    __local const TW_T* here = nodes + level * TW_SIBLINGS;
    const uint digit = tw_digit(tile, level);
    if (level == completed) ends[1] = tw_walk(here, digit + 1, before);
    before = tw_walk(here, digit, before);
  }
  ends[0] = before;
}

// The value of an item's elements, which stay where they lie: registers would be full of them while the group waits.
static inline TW_T tw_item_value(__local const TW_V* stage) {
  TW_T mine[TW_ITEMS];
  tw_take_items(stage, mine);
  return tw_item_up(mine);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_lookback(
    __global const TW_T* in, ulong in_first, ulong count, tw_words board, uint launch, uint drawn, uint levels,
    __global const TW_T* part, ulong part_first, __global TW_T* out, ulong out_first, TW_T init, uint mode,
    ulong first_tile) {
  __local TW_V stage[TW_STAGE];
  __local TW_T items[TW_PADDED_GROUP], tops[TW_TOPS], nodes[TW_LEVELS * TW_SIBLINGS], end;
  __local uint ticket;
  const int me = get_local_id(0);
  if (me == 0) ticket = tw_draw(board, drawn);
  barrier(CLK_LOCAL_MEM_FENCE);  // the tile is drawn
  const ulong tile = ticket, tiles = (count + TW_TILE - 1) / TW_TILE;
  tw_load_tile(in, in_first, count, tile, stage);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // it is loaded; in place, results may now be written over it
  TW_T ends[2];
  const TW_T own = tw_group_up(tw_item_value(stage), items, tops, true);
  const TW_T first = mode & TW_PART ? part[part_first] : TW_IDENTITY;
  tw_look_back(board, tiles, tile, levels, launch, own, first, nodes, ends);
  if (me == 0) end = ends[1];
  tw_group_down(ends[0], items, tops);
  TW_T mine[TW_ITEMS];
  tw_take_items(stage, mine);
  tw_item_up(mine);
  tw_outputs(mine, tile, count, part, part_first, init, mode, items, &end);
  tw_put_items(mine, stage);
  barrier(CLK_LOCAL_MEM_FENCE);  // the results are stored
  tw_store_tile(out, out_first, count, tile, stage);
}
