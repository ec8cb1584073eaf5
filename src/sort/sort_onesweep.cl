// SPDX-License-Identifier: Apache-2.0
// What:   sort/opencl:onesweep. tw_count_digits counts all digits in one sweep over the keys; then a launch of tw_sweep
//         for each digit reads each element once and writes it once, to where its digit belongs.
// Order:  least significant digit first, every pass stable: an element's place is the number of smaller digits, plus
//         equal digits in earlier tiles, plus its rank in its own tile.
// Shape:  a group draws a tile, counts its digits and publishes the counts, so that other tiles need not wait for
//         ranks; ranks the keys, a row of 32 at a time, and gathers them by digit in local memory; then each item looks
//         back over earlier tiles' counts of its digit until it meets a sum over all of them. The board has the counts
//         of all keys first and then a row for each tile.
// Limits: fewer than 2^31 elements; local memory for one tile; a group that has begun must go on while others wait for
//         it.
// Twins:  sort_serial.cpp, sort_cuda_radix.cuh, sort_cuda_radix_sweep.cuh; embedded after opencl_packet.cl and sort.cl.
// sort_opencl_onesweep.cpp has the same numbers, and gives TW_ROWS.
#define TW_DIGITS TW_GROUP  // 256: each item has a digit of its own
#define TW_COUNT_GROUP 1024
#define TW_COUNT_ROWS 8                 // loads in flight
#define TW_COPIES (32 / TW_KEY_BYTES)   // of a counter, side by side, so that items seldom meet in a bank
#define TW_LANES 32                     // items that rank together
#define TW_WARPS (TW_GROUP / TW_LANES)  // with a row of counts for each
#define TW_WARP_KEYS (TW_ROWS * TW_LANES)
#define TW_SWEEP_TILE (TW_ROWS * TW_GROUP)
#define TW_OF_ALL (1u << 31)  // marks a sum over a tile and all before it

static inline uint tw_digit(tw_key code, uint shift) { return (uint)(code >> shift) & (TW_DIGITS - 1); }

// The place in a tile of an item's key r, before it is sorted: a warp's keys lie side by side.
static inline uint tw_in_row(uint r) {
  const uint me = get_local_id(0);
  return me / TW_LANES * TW_WARP_KEYS + r * TW_LANES + me % TW_LANES;
}

// Adds to a sum of all groups, whose first one puts the launch's number above what an earlier launch left.
static inline void tw_add_to_total(tw_words total, uint some, uint launch) {
  for (ulong seen = TW_LOAD(total); seen >> 32 != launch;) seen = atom_cmpxchg(total, seen, (ulong)launch << 32);
  atom_add(total, (ulong)some);
}

__kernel __attribute__((reqd_work_group_size(TW_COUNT_GROUP, 1, 1))) void tw_count_digits(TW_LOOKED, tw_words board,
                                                                                          uint launch,
                                                                                          ulong first_tile) {
  __local uint counts[TW_KEY_BYTES * TW_DIGITS * TW_COPIES];
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0);
  for (uint i = me; i < TW_KEY_BYTES * TW_DIGITS * TW_COPIES; i += TW_COUNT_GROUP) counts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // the counts are zero
  const ulong step = TW_COUNT_GROUP * TW_COUNT_ROWS;
  for (ulong begin = get_group_id(0) * step + me; begin < count; begin += get_num_groups(0) * step) {
    tw_key key[TW_COUNT_ROWS];
    _Pragma("unroll") for (uint r = 0; r < TW_COUNT_ROWS; ++r) {
      const ulong i = begin + r * TW_COUNT_GROUP;
      key[r] = i < count ? keys[first_key + i] : 0;
    }
    _Pragma("unroll") for (uint r = 0; r < TW_COUNT_ROWS; ++r) {
      if (begin + r * TW_COUNT_GROUP >= count) continue;
      const tw_key encoded = tw_encode(key[r], code);
      _Pragma("unroll") for (uint d = 0; d < TW_KEY_BYTES; ++d)
          atomic_inc(&counts[(d * TW_DIGITS + tw_digit(encoded, 8 * d)) * TW_COPIES + me % TW_COPIES]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the group has counted
  for (uint i = me; i < TW_KEY_BYTES * TW_DIGITS; i += TW_COUNT_GROUP) {
    uint sum = 0;
    for (uint copy = 0; copy < TW_COPIES; ++copy) sum += counts[i * TW_COPIES + (copy + i) % TW_COPIES];
    if (sum != 0) tw_add_to_total(tw_packet(board, i), sum, launch);
  }
}

// How many of all keys have this item's digit in a pass; `launch` is the one that counted.
static inline uint tw_total(tw_words board, uint pass, uint launch) {
  const ulong word = *tw_packet(board, pass * TW_DIGITS + get_local_id(0));
  return word >> 32 == launch ? (uint)word : 0;
}

// place[r]: the place of key r, where next[digit] is that of the warp's first key with the digit. `next` belongs to the
// warp and moves on past its keys.
#ifdef __NV_CL_C_VERSION
// The lanes with this lane's digit, by a vote on each bit: NVIDIA's OpenCL C has no words for it, but takes PTX.
static inline uint tw_lanes_with(uint digit) {
  uint lanes = 0xffffffff;
  _Pragma("unroll") for (uint bit = 0; bit < 8; ++bit) {
    uint alike;
    asm volatile(
        "{ .reg .pred set; and.b32 %0, %1, %2; setp.ne.u32 set, %0, 0; vote.sync.ballot.b32 %0, set, 0xffffffff;"
        " @!set not.b32 %0, %0; }"
        : "=&r"(alike)
        : "r"(digit), "r"(1u << bit));
    lanes &= alike;
  }
  return lanes;
}

#define TW_SYNC_WARP asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
static inline void tw_rank(const tw_key* key, uint shift, __local uint* next, __local ushort* unused, uint* place) {
  const uint before_me = (1u << get_local_id(0) % TW_LANES) - 1;
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    const uint digit = tw_digit(key[r], shift), peers = tw_lanes_with(digit), earlier = next[digit];
    TW_SYNC_WARP;  // all lanes have read
    if ((peers & before_me) == 0) next[digit] = earlier + popcount(peers);
    TW_SYNC_WARP;  // the next row reads what was written
    place[r] = earlier + popcount(peers & before_me);
  }
}
#else
// Elsewhere one item of the 32 ranks for all: where a thread runs the items of a group in turn, those that wait cost
// nothing.
static inline void tw_rank(const tw_key* key, uint shift, __local uint* next, __local ushort* stage, uint* place) {
  __local ushort* first = stage + get_local_id(0) / TW_LANES * TW_WARP_KEYS;
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) stage[tw_in_row(r)] = (ushort)tw_digit(key[r], shift);
  barrier(CLK_LOCAL_MEM_FENCE);  // the digits are stored
  for (uint i = 0; i < TW_WARP_KEYS && get_local_id(0) % TW_LANES == 0; ++i) first[i] = (ushort)next[first[i]]++;
  barrier(CLK_LOCAL_MEM_FENCE);  // and so are the places
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) place[r] = stage[tw_in_row(r)];
  barrier(CLK_LOCAL_MEM_FENCE);  // they are read: their memory is free
}
#endif

// Replaces each warp's count of this item's digit by the place of its first key; that of the first warp is `place`.
static inline void tw_to_places(__local uint* counts, uint place) {
  for (uint w = 0; w < TW_WARPS; ++w) {
    const uint some = counts[w * TW_DIGITS];
    counts[w * TW_DIGITS] = place;
    place += some;
  }
}

// The number of keys with this item's digit in the tiles before `tile`, whose row of the board has it at `own`.
static inline uint tw_look_back(tw_words own, uint tile, uint launch) {
  uint sum = 0;
  while (tile > 0) {
    ulong seen[8];  // several loads in flight
    _Pragma("unroll") for (uint k = 0; k < 8; ++k) seen[k] = k < tile ? TW_LOAD(own - (k + 1) * TW_DIGITS) : 0;
    _Pragma("unroll") for (uint k = 0; k < 8; ++k) {
      if (seen[k] >> 32 != launch) break;
      sum += (uint)seen[k] & ~TW_OF_ALL;
      if ((uint)seen[k] & TW_OF_ALL) return sum;
      --tile;
      own -= TW_DIGITS;
    }
  }
  return sum;
}

// The tile's keys in rows, as they lie in memory.
static inline void tw_load_rows(__global const tw_key* in, uint size, tw_key* key) {
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    const uint i = tw_in_row(r);
    key[r] = i < size ? in[i] : ~(tw_key)0;  // past the end: sorted last
  }
}

// Values follow the keys, which lie in order in `sorted`. They are loaded only now: held while the group waited, they
// would cost registers.
static inline void tw_move_values(__global const tw_value* in, ulong first, uint size, uint mode, const uint* place,
                                  const tw_key* sorted, uint shift, __local const uint* offsets,
                                  __local tw_value* moved, __global tw_value* out) {
#if TW_VALUE_BYTES
  tw_value value[TW_ROWS];
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    const uint i = tw_in_row(r);
    value[r] = (tw_value)(first + i);
    if (!(mode & TW_INDICES)) value[r] = i < size ? in[i] : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the keys are read
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) moved[place[r]] = value[r];
  barrier(CLK_LOCAL_MEM_FENCE);  // the values are in order
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) value[r] = moved[TW_STRIPED(r)];
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    const uint i = TW_STRIPED(r), to = offsets[tw_digit(sorted[r], shift)] + i;
    if (i < size) out[to] = value[r];
  }
#endif
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sweep(TW_MOVED, tw_words board, uint counted,
                                                                             uint drawn, uint pass, ulong first_tile) {
  __local ulong stage[TW_SWEEP_TILE * TW_WIDE_BYTES / 8];
  __local uint counts[TW_WARPS * TW_DIGITS], offsets[TW_DIGITS], ticket;
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0), shift = 8 * pass, launch = counted + 1 + pass;
  if (me == 0) ticket = tw_draw(board, drawn);
  for (uint w = 0; w < TW_WARPS; ++w) counts[w * TW_DIGITS + me] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // the tile is drawn, and the counts are zero
  const uint tile = ticket;
  const ulong first = (ulong)tile * TW_SWEEP_TILE;
  const uint size = (uint)min((ulong)TW_SWEEP_TILE, count - first);
  tw_key key[TW_ROWS];
  uint place[TW_ROWS], all;
  tw_load_rows(keys + first_key + first, size, key);
  __local uint* sums = (__local uint*)stage;
  const uint base = tw_sum_before(tw_total(board, pass, counted), sums, &all);  // while the keys are on their way
  __local uint* next = counts + me / TW_LANES * TW_DIGITS;                      // of the item's warp
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    if (mode & TW_ENCODE && tw_in_row(r) < size) key[r] = tw_encode(key[r], code);
    atomic_inc(&next[tw_digit(key[r], shift)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // all warps have counted

  const tw_words row = tw_packet(board, (TW_KEY_BYTES + (ulong)tile) * TW_DIGITS + me);
  uint mine = 0;
  for (uint w = 0; w < TW_WARPS; ++w) mine += counts[w * TW_DIGITS + me];
  tw_send(row, tile == 0 ? mine | TW_OF_ALL : mine, launch);
  const uint smaller = tw_sum_before(mine, sums, &all);
  tw_to_places(counts + me, smaller);
  barrier(CLK_LOCAL_MEM_FENCE);  // every warp has its places
  tw_rank(key, shift, next, (__local ushort*)stage, place);
  __local tw_key* staged = (__local tw_key*)stage;
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) staged[place[r]] = key[r];
  const uint before = tw_look_back(row, tile, launch);
  if (tile != 0) tw_send(row, (before + mine) | TW_OF_ALL, launch);
  offsets[me] = base + before - smaller;  // where a run of the digit goes, less its place in the tile
  barrier(CLK_LOCAL_MEM_FENCE);           // the keys are in order, and every run has its place

  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) key[r] = staged[TW_STRIPED(r)];
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    const uint i = TW_STRIPED(r), to = offsets[tw_digit(key[r], shift)] + i;
    if (i < size) keys_out[first_key_out + to] = mode & TW_DECODE ? tw_decode(key[r], code) : key[r];
  }
  tw_move_values(values + first_value + first, first, size, mode, place, key, shift, offsets, (__local tw_value*)stage,
                 values_out + first_value_out);
}
