// SPDX-License-Identifier: Apache-2.0
// What:   scan/opencl:chunked (tw_tiles, tw_prefixes) and scan/opencl:blelloch (tw_totals, tw_sweeps). On each level
//         the first kernel makes the tiles' values; these are scanned by the same two kernels on the next level, until
//         they fit one tile; the second kernel goes down from the tiles' carries.
// Order:  a tile is an aligned block, so the scan of the tiles' values gives P at each tile's start. The downsweep
//         starts from that carry. Inclusive output i is P(i+1), the prefix at the next position; a tile's last one is
//         the next tile's carry. Where the input is a part of a longer array, `part` holds the prefixes before and
//         after it: all carries are folds onto the first, and the last inclusive output is of the second.
// Shape:  one group per tile; groups do not wait for each other.
// Limits: local memory for one tile of elements.
// Twins:  serial.cpp, cuda/blelloch.cu; embedded after order/operators.cl and order/block_tree.cl.

// What a level is and what it outputs; variants.cpp has the same numbers.
#define TW_INCLUSIVE 1  // out[i] = P(i+1), else P(i)
#define TW_STARTED 2    // init is applied to every output
#define TW_SPINE 4      // the elements are tiles' values: out[count] = P(count) is written too, NaNs stay as they are
#define TW_TOP 8        // one tile, whose carry is the prefix of the chunks before it
#define TW_PART 16      // the input is a part of a longer array
#define TW_LAST 32      // of the chunks
#define TW_WHOLE 64     // a chunk as long as the others: what it completes is a block that may be longer than it

static inline TW_T tw_result(TW_T prefix, TW_T init, uint mode) {
  if (mode & TW_SPINE) return prefix;
  return tw_canonical(mode & TW_STARTED ? tw_apply(init, prefix) : prefix);
}

TW_DEFINE_STACK(tw_chunks, __global)

// At the top the carry comes from the stack of chunks, which the tile's value then joins. Returns the prefix after it.
static inline TW_T tw_join(__global TW_T* stack, ulong chunk, TW_T value, TW_T before, TW_T* carry) {
  *carry = tw_chunks_fold(stack, chunk, before);
  tw_chunks_push(stack, chunk, value);
  return tw_chunks_fold(stack, chunk + 1, before);
}

// Whether output `at` of `count` is that of the prefix after the whole part.
static inline bool tw_is_after(ulong at, ulong count, uint mode) {
  const uint all = TW_PART | TW_LAST | TW_INCLUSIVE;
  return at + 1 == count && (mode & (all | TW_SPINE)) == all;
}

#ifndef TW_LOG_PAIRS  // chunked

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_tiles(__global const TW_T* in, ulong in_first,
                                                                             ulong count, __global TW_T* values,
                                                                             ulong first_tile) {
  __local TW_T units[TW_PADDED_UNITS], items[TW_PADDED_GROUP], tops[TW_TOPS];
  const ulong tile = first_tile + get_group_id(0);
  const TW_T value = tw_tile_value(in, in_first, count, tile, units, items, tops);
  if (get_local_id(0) == 0) values[tile] = value;
}

// Where unit u of the tile lies in local memory: a unit of padding after every eight keeps readers of an item's own
// units apart.
#define TW_PAD_STAGE(u) ((u) + ((u) >> 3))
#define TW_STAGE (TW_GROUP * TW_UNITS + TW_GROUP * TW_UNITS / 8 + 1)

static inline void tw_load_tile(__global const TW_T* in, ulong first, ulong count, ulong tile, __local TW_V* stage) {
  const int me = get_local_id(0);
  if (tw_in_units(first, tile, count)) {
    __global const TW_V* source = (__global const TW_V*)(in + first + tile * TW_TILE);
    TW_V loaded[TW_UNITS];
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) loaded[q] = source[q * TW_GROUP + me];
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) stage[TW_PAD_STAGE(q * TW_GROUP + me)] = loaded[q];
  } else {
    for (int q = 0; q < TW_UNITS; ++q) {
      const ulong u = q * TW_GROUP + me;
      stage[TW_PAD_STAGE(u)] = tw_unit_at_end(in + first, tile * TW_TILE + u * TW_W, count);
    }
  }
}

static inline void tw_store_tile(__global TW_T* out, ulong first, ulong count, ulong tile, __local const TW_V* stage) {
  const int me = get_local_id(0);
  if (tw_in_units(first, tile, count)) {
    __global TW_V* target = (__global TW_V*)(out + first + tile * TW_TILE);
    _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) target[q * TW_GROUP + me] =
        stage[TW_PAD_STAGE(q * TW_GROUP + me)];
  } else {
    for (uint i = me; i < TW_TILE; i += TW_GROUP) {
      const ulong at = tile * TW_TILE + i;
      __local const TW_T* unit = (__local const TW_T*)(stage + TW_PAD_STAGE(i >> TW_LOG_W));
      if (at < count) out[first + at] = unit[i & (TW_W - 1)];
    }
  }
}

static inline void tw_take_items(__local const TW_V* stage, TW_T* mine) {
  _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) {
    const TW_V unit = stage[TW_PAD_STAGE(get_local_id(0) * TW_UNITS + q)];
    mine[q * TW_W] = unit.s0;
    mine[q * TW_W + 1] = unit.s1;
#if TW_W == 4
    mine[q * TW_W + 2] = unit.s2;
    mine[q * TW_W + 3] = unit.s3;
#endif
  }
}

// Each item writes only where it alone has read.
static inline void tw_put_items(const TW_T* mine, __local TW_V* stage) {
  _Pragma("unroll") for (int q = 0; q < TW_UNITS; ++q) {
    __local TW_V* own = stage + TW_PAD_STAGE(get_local_id(0) * TW_UNITS + q);
#if TW_W == 4
    *own = (TW_V)(mine[q * TW_W], mine[q * TW_W + 1], mine[q * TW_W + 2], mine[q * TW_W + 3]);
#else
    *own = (TW_V)(mine[q * TW_W], mine[q * TW_W + 1]);
#endif
  }
}

// The tile's outputs, from each item's tree after the way up and its prefix in `items`; `end` is the prefix after it.
static inline void tw_outputs(TW_T* mine, ulong tile, ulong count, __global const TW_T* part, ulong part_first,
                              TW_T init, uint mode, __local const TW_T* items, __local const TW_T* end) {
  const int me = get_local_id(0);
  tw_item_down(mine, items[TW_PAD(me)]);
  const TW_T next = me + 1 < TW_GROUP ? items[TW_PAD(me + 1)] : *end;
  const int shift = mode & TW_INCLUSIVE;
  _Pragma("unroll") for (int i = 0; i < TW_ITEMS; ++i) {
    const TW_T following = i + 1 < TW_ITEMS ? mine[i + 1 < TW_ITEMS ? i + 1 : i] : next;
    mine[i] = tw_result(shift ? following : mine[i], init, mode);
  }
  if (mode & TW_PART) {
    const ulong mine_first = tile * TW_TILE + me * TW_ITEMS;
    _Pragma("unroll") for (int i = 0; i < TW_ITEMS; ++i) {
      if (tw_is_after(mine_first + i, count, mode)) mine[i] = tw_result(part[part_first + 1], init, mode);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_prefixes(
    __global const TW_T* in, ulong in_first, ulong count, __global const TW_T* carries, __global TW_T* stack,
    ulong chunk, __global const TW_T* part, ulong part_first, __global TW_T* out, ulong out_first, TW_T init, uint mode,
    ulong last_tile, ulong first_tile) {
  __local TW_V stage[TW_STAGE];
  __local TW_T items[TW_PADDED_GROUP], tops[TW_TOPS], end;
  const int me = get_local_id(0);
  // Backwards: what the previous pass read last is still in the cache, and is read first.
  const ulong tile = last_tile - (first_tile + get_group_id(0));
  TW_T carry = TW_IDENTITY, after = TW_IDENTITY;
  if (me == 0 && !(mode & TW_TOP)) {  // loaded early: it arrives while the tree goes up
    carry = carries[tile];
    after = carries[tile + 1];
  }
  tw_load_tile(in, in_first, count, tile, stage);
  barrier(CLK_LOCAL_MEM_FENCE |
          CLK_GLOBAL_MEM_FENCE);  // the tile is loaded; in place, results may now be written over it
  TW_T mine[TW_ITEMS];
  tw_take_items(stage, mine);
  const TW_T root = tw_group_up(tw_item_up(mine), items, tops, true);
  if (me == 0) {
    if (mode & TW_TOP) {
      const TW_T before = mode & TW_PART ? part[part_first] : TW_IDENTITY;
      after = tw_join(stack, chunk, root, before, &carry);
    }
    end = after;
  }
  tw_group_down(carry, items, tops);
  tw_outputs(mine, tile, count, part, part_first, init, mode, items, &end);
  // The prefix after a whole chunk is its stack's: from the chunk's carry on, the blocks that it completes are missing.
  const uint end_of_chunk = TW_SPINE | TW_TOP | TW_WHOLE;
  if ((mode & end_of_chunk) == end_of_chunk) {
    _Pragma("unroll") for (int i = 0; i < TW_ITEMS; ++i) {
      if ((ulong)(me * TW_ITEMS + i) == count) mine[i] = end;
    }
  }
  tw_put_items(mine, stage);
  barrier(CLK_LOCAL_MEM_FENCE);  // the results are stored
  // A spine has one more output than elements: P(count), in this tile or at its end.
  const ulong outputs = mode & TW_SPINE ? count + 1 : count;
  tw_store_tile(out, out_first, outputs, tile, stage);
  if (me == 0 && (mode & TW_SPINE) && (tile + 1) * TW_TILE == count) out[out_first + count] = end;
}

#else  // blelloch and sweep_add: two elements per item, everything in local memory

#define TW_PAIRS (1 << TW_LOG_PAIRS)  // items of a group, and pairs of elements of a tile
#define TW_PAIR_TILE (2ul << TW_LOG_PAIRS)

static inline void tw_load_pairs(__global const TW_T* in, ulong first, ulong count, ulong tile, __local TW_T* nodes) {
  for (int i = get_local_id(0); i < (int)TW_PAIR_TILE; i += TW_PAIRS) {
    const ulong at = tile * TW_PAIR_TILE + i;
    nodes[i] = at < count ? in[first + at] : TW_IDENTITY;
  }
}

static inline void tw_upsweep(__local TW_T* nodes) {
  const int me = get_local_id(0);
  for (int step = 1; step < (int)TW_PAIR_TILE; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the nodes of the level below are stored
    const int right = (2 * me + 2) * step - 1;
    if (right < (int)TW_PAIR_TILE) nodes[right] = tw_apply(nodes[right - step], nodes[right]);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the root is stored; in place, results may be written now
}

// From a carry at the root to each element's prefix. Item 0 alone works on the root's level, so it may set the carry
// without a barrier before this.
static inline void tw_downsweep(__local TW_T* nodes) {
  const int me = get_local_id(0);
  for (int step = TW_PAIRS; step > 0; step /= 2) {
    const int right = (2 * me + 2) * step - 1;
    if (right < (int)TW_PAIR_TILE) {
      const TW_T left = nodes[right - step];
      nodes[right - step] = nodes[right];
      nodes[right] = tw_apply(nodes[right], left);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the prefixes of this level are stored
  }
}

__kernel __attribute__((reqd_work_group_size(TW_PAIRS, 1, 1))) void tw_totals(__global const TW_T* in, ulong in_first,
                                                                              ulong count, __global TW_T* values,
                                                                              ulong first_tile) {
  __local TW_T nodes[TW_PAIR_TILE];
  const ulong tile = first_tile + get_group_id(0);
  tw_load_pairs(in, in_first, count, tile, nodes);
  tw_upsweep(nodes);
  if (get_local_id(0) == 0) values[tile] = nodes[TW_PAIR_TILE - 1];
}

__kernel __attribute__((reqd_work_group_size(TW_PAIRS, 1, 1))) void tw_sweeps(
    __global const TW_T* in, ulong in_first, ulong count, __global const TW_T* carries, __global TW_T* stack,
    ulong chunk, __global const TW_T* part, ulong part_first, __global TW_T* out, ulong out_first, TW_T init, uint mode,
    ulong last_tile, ulong first_tile) {
  __local TW_T nodes[TW_PAIR_TILE], ends[2];
  const int me = get_local_id(0), last = (int)TW_PAIR_TILE - 1;
  const ulong tile = last_tile - (first_tile + get_group_id(0));
  tw_load_pairs(in, in_first, count, tile, nodes);
  const bool on_top = (mode & TW_TOP) != 0;
#ifndef TW_CARRY_DIRECT
  if (me == 0 && !on_top) {
    ends[0] = carries[tile];
    ends[1] = carries[tile + 1];
  }
#endif
  tw_upsweep(nodes);
  if (on_top && me == 0) {
    const TW_T before = mode & TW_PART ? part[part_first] : TW_IDENTITY;
    TW_T carry;
    ends[1] = tw_join(stack, chunk, nodes[last], before, &carry);
    ends[0] = carry;
  }
  // Others read the end only after the barriers of the way down.
#ifdef TW_CARRY_DIRECT
  if (me == 0) nodes[last] = on_top ? ends[0] : carries[tile];
  tw_downsweep(nodes);
  const TW_T end = on_top ? ends[1] : carries[tile + 1];
#else
  if (me == 0) nodes[last] = ends[0];
  tw_downsweep(nodes);
  const TW_T end = ends[1];
#endif
  const ulong outputs = mode & TW_SPINE ? count + 1 : count;
  const int shift = mode & TW_INCLUSIVE;
  for (int i = me; i <= last; i += TW_PAIRS) {
    const ulong at = tile * TW_PAIR_TILE + i;
    TW_T prefix = i + shift <= last ? nodes[min(i + shift, last)] : end;
    if (tw_is_after(at, count, mode)) prefix = part[part_first + 1];
    if (at < outputs) out[out_first + at] = tw_result(prefix, init, mode);
  }
  if (me == 0 && (mode & TW_SPINE) && (tile + 1) * TW_PAIR_TILE == count) out[out_first + count] = end;
}

#endif
