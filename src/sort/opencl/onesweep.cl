// SPDX-License-Identifier: Apache-2.0
// What:   sort/opencl:onesweep. tw_count_digits counts all digits in one sweep over the keys; then a launch of tw_sweep
//         for each digit reads each element once and writes it once, to where its digit belongs. With TW_PLANNED,
//         tw_make_plan leaves out the low digits that hardly any keys need to be told apart; settle.cl does the
//         rest.
// Order:  least significant digit first, every pass stable: an element's place is the number of smaller digits, plus
//         equal digits in earlier tiles, plus its rank in its own tile.
// Shape:  a group draws a tile, counts its digits and publishes the counts, so that other tiles need not wait for
//         ranks; ranks the keys, a row of 32 at a time, and gathers them by digit in local memory; then each item looks
//         back over earlier tiles' counts of its digit until it meets a sum over all of them. The board has the counts
//         of all keys first and then a row for each tile.
// Limits: fewer than 2^31 elements; local memory for one tile; a group that has begun must go on while others wait for
//         it.
// Twins:  serial.cpp, cuda/radix.cuh, cuda/radix_plan.cuh, cuda/radix_sweep.cuh; embedded after
// backend/opencl/packet.cl and program.cl. onesweep.cpp has the same numbers, and gives TW_ROWS.
#define TW_DIGITS TW_GROUP  // 256: each item has a digit of its own
#define TW_COUNT_GROUP 1024
#define TW_COUNT_ROWS 8                 // loads in flight
#define TW_COPIES (32 / TW_KEY_BYTES)   // of a counter, side by side, so that items seldom meet in a bank
#define TW_LANES 32                     // items that rank together
#define TW_WARPS (TW_GROUP / TW_LANES)  // with a row of counts for each
#define TW_WARP_KEYS (TW_ROWS * TW_LANES)
#define TW_SWEEP_TILE (TW_ROWS * TW_GROUP)
#define TW_OF_ALL (1u << 31)  // marks a sum over a tile and all before it

#ifdef __NV_CL_C_VERSION
// A byte takes one instruction, where a shift and a mask take two.
static inline uint tw_digit(tw_key code, uint shift) {
  const uint word = shift < 32 ? (uint)code : (uint)((ulong)code >> 32);
  uint digit;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(digit) : "r"(word), "r"(0x4440 + shift % 32 / 8));
  return digit;
}
#else
static inline uint tw_digit(tw_key code, uint shift) { return (uint)(code >> shift) & (TW_DIGITS - 1); }
#endif

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

// A pass over the elements: what it reads, does and writes.
typedef struct {
  __global const tw_key* keys;
  __global const tw_value* values;
  __global tw_key* keys_out;
  __global tw_value* values_out;
  ulong count;
  uint mode, digit;  // which of the key's digits
  uint launch;       // that sends
} tw_pass;

#define TW_IN_TO_OUT \
  keys + first_key, values + first_value, keys_out + first_key_out, values_out + first_value_out, count, mode

// The memory of a group that sweeps.
#define TW_SWEEP_MEMORY                                   \
  __local ulong stage[TW_SWEEP_TILE * TW_WIDE_BYTES / 8]; \
  __local uint counts[TW_WARPS * TW_DIGITS], offsets[TW_DIGITS], ticket

// Sorts a tile by a digit, whose counts are zero, and moves it. At the end items may still read `stage` and `offsets`.
// The function is not static, for the reason of tw_tile_sort.
void tw_sweep_tile(const tw_pass* pass, tw_code code, uint tile, tw_words board, uint counted, __local ulong* stage,
                   __local uint* counts, __local uint* offsets) {
  const uint me = get_local_id(0), shift = 8 * pass->digit;
  const ulong first = (ulong)tile * TW_SWEEP_TILE;
  const uint size = (uint)min((ulong)TW_SWEEP_TILE, pass->count - first);
  tw_key key[TW_ROWS];
  uint place[TW_ROWS], all;
  tw_load_rows(pass->keys + first, size, key);
  __local uint* sums = (__local uint*)stage;
  const uint base = tw_sum_before(tw_total(board, pass->digit, counted), sums, &all);  // as the keys arrive
  __local uint* next = counts + me / TW_LANES * TW_DIGITS;                             // of the item's warp
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    if (pass->mode & TW_ENCODE && tw_in_row(r) < size) key[r] = tw_encode(key[r], code);
    atomic_inc(&next[tw_digit(key[r], shift)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // all warps have counted

  const tw_words row = tw_packet(board, (TW_KEY_BYTES + (ulong)tile) * TW_DIGITS + me);
  uint mine = 0;
  for (uint w = 0; w < TW_WARPS; ++w) mine += counts[w * TW_DIGITS + me];
  tw_send(row, tile == 0 ? mine | TW_OF_ALL : mine, pass->launch);
  const uint smaller = tw_sum_before(mine, sums, &all);
  tw_to_places(counts + me, smaller);
  barrier(CLK_LOCAL_MEM_FENCE);  // every warp has its places
  tw_rank(key, shift, next, (__local ushort*)stage, place);
  __local tw_key* staged = (__local tw_key*)stage;
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) staged[place[r]] = key[r];
  const uint before = tw_look_back(row, tile, pass->launch);
  if (tile != 0) tw_send(row, (before + mine) | TW_OF_ALL, pass->launch);
  offsets[me] = base + before - smaller;  // where a run of the digit goes, less its place in the tile
  barrier(CLK_LOCAL_MEM_FENCE);           // the keys are in order, and every run has its place

  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) key[r] = staged[TW_STRIPED(r)];
  _Pragma("unroll") for (uint r = 0; r < TW_ROWS; ++r) {
    const uint i = TW_STRIPED(r), to = offsets[tw_digit(key[r], shift)] + i;
    if (i < size) pass->keys_out[to] = pass->mode & TW_DECODE ? tw_decode(key[r], code) : key[r];
  }
  tw_move_values(pass->values + first, first, size, pass->mode, place, key, shift, offsets, (__local tw_value*)stage,
                 pass->values_out);
}

#ifndef TW_PLANNED
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sweep(TW_MOVED, tw_words board, uint counted,
                                                                             uint drawn, uint digit, ulong first_tile) {
  TW_SWEEP_MEMORY;
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0);
  const tw_pass pass = {TW_IN_TO_OUT, digit, counted + 1 + digit};
  if (me == 0) ticket = tw_draw(board, drawn);
  for (uint w = 0; w < TW_WARPS; ++w) counts[w * TW_DIGITS + me] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // the tile is drawn, and the counts are zero
  tw_sweep_tile(&pass, code, ticket, board, counted, stage, counts, offsets);
}
#else
// Words of `plan`, which tw_make_plan writes. settle.cl has the same numbers.
#define TW_PASSES 0      // how many digits are sorted
#define TW_FROM_DIGIT 1  // of them; those below it are left to settle.cl
#define TW_AGAIN 2       // whether too many keys share the sorted digits
#define TW_DIGIT_OF 8    // of each pass
#define TW_TICKETS 16    // drawn by each launch

// Adds up the parts of all items.
static inline float tw_sum_of_group(float part, __local float* parts) {
  const uint me = get_local_id(0);
  parts[me] = part;
  for (uint left = TW_GROUP / 2; left > 0; left /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the sums are stored
    if (me < left) parts[me] += parts[me + left];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // and the last one
  return parts[0];
}

// Which digits are sorted: from the top, until few keys may be expected to share all of them. One group.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_make_plan(ulong count, uint in_place,
                                                                                 tw_words board, uint counted,
                                                                                 __global uint* plan,
                                                                                 ulong first_tile) {
  __local float parts[TW_KEY_BYTES * TW_GROUP];
  __local uint same[TW_KEY_BYTES];  // whether all keys have one value of a digit
  const float rare = 0.125f;
  float neighbours = (float)count;
  uint lowest = TW_KEY_BYTES;
  if (get_local_id(0) < TW_KEY_BYTES) same[get_local_id(0)] = 0;
  if (get_local_id(0) < 2 * TW_KEY_BYTES) plan[TW_TICKETS + get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // no digit is known to be the same
  for (uint d = TW_KEY_BYTES; d-- > 0;) {
    const uint total = tw_total(board, d, counted);
    const float share = (float)total / (float)count;
    if (total == count) same[d] = 1;
    const float alike = tw_sum_of_group(share * share, parts + d * TW_GROUP);  // the chance that two keys share it
    if (neighbours > rare) lowest = d;
    neighbours *= alike;
  }
  if (get_local_id(0) != 0) return;
  uint passes = 0;
  for (uint d = lowest; d < TW_KEY_BYTES; ++d)
    if (!same[d]) plan[TW_DIGIT_OF + passes++] = d;
  // Keys that are all equal are moved by a pass. In place, the first of an odd number of passes would write over what
  // it reads: one digit is sorted twice.
  while (passes == 0 || (in_place && passes % 2 == 1)) {
    plan[TW_DIGIT_OF + passes] = passes == 0 ? lowest : plan[TW_DIGIT_OF + passes - 1];
    ++passes;
  }
  plan[TW_PASSES] = passes;
  plan[TW_FROM_DIGIT] = lowest;
  plan[TW_AGAIN] = 0;
}

// What the launch `nth` of the plan does, or from TW_KEY_BYTES on one of those that sort by all digits where the plan
// has failed. Passes go from the input to the output by way of a workspace.
#define TW_PLANNED_PASSES                                                                          \
  TW_MOVED, __global tw_key *spare, __global tw_value *spare_values, tw_words board, uint counted, \
      __global uint *plan, uint nth, ulong first_tile
static inline bool tw_has_pass(const __global uint* plan, uint nth, __global tw_key* spare,
                               __global tw_value* spare_values, tw_pass* pass) {
  const uint again = nth >= TW_KEY_BYTES, at = nth % TW_KEY_BYTES;
  const uint passes = again ? TW_KEY_BYTES : plan[TW_PASSES];
  if (again ? plan[TW_AGAIN] == 0 : at >= passes) return false;
  const uint to_out = (passes - at) % 2;
  if (nth != 0) {
    pass->keys = to_out ? spare : pass->keys_out;
    pass->values = to_out ? spare_values : pass->values_out;
    pass->mode = 0;  // values are read
  }
  if (!to_out) pass->keys_out = spare;
  if (!to_out) pass->values_out = spare_values;
  pass->mode = (pass->mode & TW_INDICES) | (at == 0 ? TW_ENCODE : 0) | (at + 1 == passes ? TW_DECODE : 0);
  pass->digit = again ? at : plan[TW_DIGIT_OF + at];
  return true;
}

#define TW_BEGIN_PLANNED                               \
  TW_SWEEP_MEMORY;                                     \
  const tw_code code = TW_CODE;                        \
  tw_pass pass = {TW_IN_TO_OUT, 0, counted + 1 + nth}; \
  if (!tw_has_pass(plan, nth, spare, spare_values, &pass)) return

static inline uint tw_next_tile(__global uint* plan, uint nth, __local uint* ticket, __local uint* counts) {
  if (get_local_id(0) == 0) *ticket = atomic_inc(plan + TW_TICKETS + nth);
  for (uint w = 0; w < TW_WARPS; ++w) counts[w * TW_DIGITS + get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // the tile is drawn, and the counts are zero
  return *ticket;
}

// A group for each tile.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sweep_by_plan(TW_PLANNED_PASSES) {
  TW_BEGIN_PLANNED;
  tw_sweep_tile(&pass, code, tw_next_tile(plan, nth, &ticket, counts), board, counted, stage, counts, offsets);
}

// The same for a pass that is seldom needed: few groups look whether it is. The loop takes registers.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sweep_by_few(TW_PLANNED_PASSES) {
  TW_BEGIN_PLANNED;
  const uint tiles = (uint)((count + TW_SWEEP_TILE - 1) / TW_SWEEP_TILE);
  uint tile = tw_next_tile(plan, nth, &ticket, counts);
  while (tile < tiles) {
    tw_sweep_tile(&pass, code, tile, board, counted, stage, counts, offsets);
    tile = tw_next_tile(plan, nth, &ticket, counts);
  }
}
#endif
