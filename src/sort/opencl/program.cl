// SPDX-License-Identifier: Apache-2.0
// What:   what all sorts of one array on OpenCL share, tw_tile_sort: a group sorts one tile by some bits of its codes.
// Order:  smaller codes first, and stable: a key's place is the number of keys with smaller digits, plus the number of
//         equal digits before it.
// Shape:  TW_GROUP items hold TW_HELD neighbouring keys each in registers. A step sorts by four bits: each item counts
//         its 16 digits in the nibbles of one ulong, the group scans the counts in local memory, the keys move there.
// Limits: TW_HELD <= 15, so that a nibble holds every count; TW_GROUP = 2^TW_LOG_GROUP is 64 to 1024.
// Twins:  cuda/elements.cuh; embedded after key_code.cl, before radix.cl, merge.cl and onesweep.cl.
#ifndef TW_VALUE_BYTES
#define TW_VALUE_BYTES 0
#endif
#define TW_HELD 15  // odd: each item's run starts in its own bank; shared.hpp has the same number
#define TW_SORT_TILE (TW_GROUP * TW_HELD)

#if TW_VALUE_BYTES == 8
typedef ulong tw_value;
#else
typedef uint tw_value;
#endif

// The first arguments of every kernel that moves elements.
#define TW_MOVED                                                                                            \
  __global const tw_key *keys, ulong first_key, __global const tw_value *values, ulong first_value,         \
      __global tw_key *keys_out, ulong first_key_out, __global tw_value *values_out, ulong first_value_out, \
      ulong count, TW_CODE_WORDS, uint mode
// And of every kernel that only looks at their keys.
#define TW_LOOKED __global const tw_key *keys, ulong first_key, ulong count, TW_CODE_WORDS, uint mode

// Local memory of a group: the tile's keys, its values, or the counts of a step: two digits to a word, one word for
// each pair of digits and item. The places of the counts are padded so that eight readers in a row share no bank.
#define TW_PAD_COUNT(i) ((i) + ((i) >> 5))
#define TW_COUNT_BYTES (4 * TW_PAD_COUNT(8 * TW_GROUP))
#define TW_WIDE_BYTES (TW_VALUE_BYTES > TW_KEY_BYTES ? TW_VALUE_BYTES : TW_KEY_BYTES)
#define TW_TILE_BYTES (TW_SORT_TILE * TW_WIDE_BYTES)
#define TW_STAGE_UNITS ((TW_TILE_BYTES > TW_COUNT_BYTES ? TW_TILE_BYTES : TW_COUNT_BYTES) / 8 + 1)
#define TW_PAD_SUM(i) ((i) + ((i) >> 3))
#define TW_SUMS (TW_PAD_SUM(TW_GROUP) + TW_PAD_SUM(TW_GROUP / 8) + TW_GROUP / 64)

// What an item holds: neighbouring keys of the tile and their values.
typedef struct {
  tw_key key[TW_HELD];
#if TW_VALUE_BYTES
  tw_value value[TW_HELD];
#endif
} tw_held;

// Eight sums become their exclusive prefixes; returns their total.
static inline uint tw_prefixes_of_eight(__local uint* sums, int first) {
  uint total = 0;
  _Pragma("unroll") for (int j = 0; j < 8; ++j) {
    const uint sum = sums[TW_PAD_SUM(first + j)];
    sums[TW_PAD_SUM(first + j)] = total;
    total += sum;
  }
  return total;
}

// The sum of `value` over the items before this one; a tree of radix eight.
static inline uint tw_sum_before(uint value, __local uint* sums, uint* total) {
  const int me = get_local_id(0);
  __local uint* eights = sums + TW_PAD_SUM(TW_GROUP);
  __local uint* tops = eights + TW_PAD_SUM(TW_GROUP / 8);
  sums[TW_PAD_SUM(me)] = value;
  barrier(CLK_LOCAL_MEM_FENCE);  // each item's sum is stored
  if (me < TW_GROUP / 8) eights[TW_PAD_SUM(me)] = tw_prefixes_of_eight(sums, 8 * me);
  barrier(CLK_LOCAL_MEM_FENCE);  // each sum of eight
  if (me < TW_GROUP / 64) tops[me] = tw_prefixes_of_eight(eights, 8 * me);
  barrier(CLK_LOCAL_MEM_FENCE);  // and each sum of 64
  uint before = sums[TW_PAD_SUM(me)] + eights[TW_PAD_SUM(me >> 3)], all = 0;
  for (int j = 0; j < TW_GROUP / 64; ++j) {
    const uint sum = tops[j];
    before += j < me >> 6 ? sum : 0;
    all += sum;
  }
  *total = all;
  return before;
}

// Where each held key goes when the tile is sorted by the digit (key >> shift) & mask, mask < 16.
static inline void tw_places(const tw_held* held, uint shift, uint mask, __local uint* counts, __local uint* sums,
                             uint* place) {
  const int me = get_local_id(0);
  ulong nibbles = 0;
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint at = 4 * ((uint)(held->key[q] >> shift) & mask);
    place[q] = (uint)(nibbles >> at) & 15;
    nibbles += 1ul << at;
  }
  const uint low = (uint)nibbles, high = (uint)(nibbles >> 32);
  _Pragma("unroll") for (int d = 0; d < 8; ++d) counts[TW_PAD_COUNT(d * TW_GROUP + me)] =
      (low >> (4 * d) & 15) | (high >> (4 * d) & 15) << 16;
  barrier(CLK_LOCAL_MEM_FENCE);  // all items' counts are stored, by digit and then by item
  uint mine[8], sum = 0, total;
  _Pragma("unroll") for (int j = 0; j < 8; ++j) {
    mine[j] = counts[TW_PAD_COUNT(8 * me + j)];
    sum += mine[j];
  }
  uint before = tw_sum_before(sum, sums, &total);
  before += total << 16;  // the digits 8 to 15 come after all of 0 to 7
  _Pragma("unroll") for (int j = 0; j < 8; ++j) {
    counts[TW_PAD_COUNT(8 * me + j)] = before;
    before += mine[j];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the counts before each item's digits are stored
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint digit = (uint)(held->key[q] >> shift) & mask;
    place[q] += counts[TW_PAD_COUNT((digit & 7) * TW_GROUP + me)] >> (16 * (digit >> 3)) & 0xffff;
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // and read: their memory is free
}

#define TW_MOVE_IN(staged, place, from) \
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q)(staged)[(place)[q]] = (from)[q]
#define TW_MOVE_OUT(staged, to) \
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q)(to)[q] = (staged)[TW_HELD * (int)get_local_id(0) + q]

// Loads tile `first` ... `first + size`; missing keys have the largest code and, being last, stay after all others.
static inline void tw_load_tile_keys(__global const tw_key* in, uint size, tw_code code, uint mode,
                                     __local ulong* stage, tw_held* held) {
  __local tw_key* staged = (__local tw_key*)stage;
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    tw_key key = ~(tw_key)0;
    if (i < size) key = mode & TW_ENCODE ? tw_encode(in[i], code) : in[i];
    staged[i] = key;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the tile is loaded, and may be overwritten
  TW_MOVE_OUT(staged, held->key);
  barrier(CLK_LOCAL_MEM_FENCE);  // its memory is free
}

static inline void tw_load_tile_values(__global const tw_value* in, ulong first, uint size, uint mode,
                                       __local ulong* stage, tw_held* held) {
#if TW_VALUE_BYTES
  __local tw_value* staged = (__local tw_value*)stage;
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    tw_value value = (tw_value)(first + i);
    if (!(mode & TW_INDICES)) value = i < size ? in[i] : 0;
    staged[i] = value;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the tile is loaded, and may be overwritten
  TW_MOVE_OUT(staged, held->value);
  barrier(CLK_LOCAL_MEM_FENCE);  // its memory is free
#endif
}

// Sorts the tile by `bits` bits from `shift` on, four at a time. In the end the keys lie in order in `stage`; `place`
// says where each held value belongs. No barrier is inside a condition: PoCL copies all that follows one. The function
// is not static: where only one kernel calls it, PoCL's inliner, of LLVM 15, crashes on it.
void tw_tile_sort(tw_held* held, uint shift, uint bits, __local ulong* stage, __local uint* sums, uint* place) {
  __local tw_key* staged = (__local tw_key*)stage;
  uint done = 0;
  for (; done + 4 < bits; done += 4) {
    tw_places(held, shift + done, 15, (__local uint*)stage, sums, place);
    TW_MOVE_IN(staged, place, held->key);
    barrier(CLK_LOCAL_MEM_FENCE);  // the keys are in order
    TW_MOVE_OUT(staged, held->key);
    barrier(CLK_LOCAL_MEM_FENCE);  // their memory is free
#if TW_VALUE_BYTES
    __local tw_value* values = (__local tw_value*)stage;
    TW_MOVE_IN(values, place, held->value);
    barrier(CLK_LOCAL_MEM_FENCE);  // the values are in order
    TW_MOVE_OUT(values, held->value);
    barrier(CLK_LOCAL_MEM_FENCE);  // their memory is free
#endif
  }
  tw_places(held, shift + done, (1u << (bits - done)) - 1, (__local uint*)stage, sums, place);
  TW_MOVE_IN(staged, place, held->key);
  barrier(CLK_LOCAL_MEM_FENCE);  // the keys are in order
}

// A separate launch where one tile is everything, and the first step of merge_path.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_tiles(TW_MOVED, ulong first_tile) {
  __local ulong stage[TW_STAGE_UNITS];
  __local uint sums[TW_SUMS];
  const tw_code code = TW_CODE;
  const ulong first = (first_tile + get_group_id(0)) * TW_SORT_TILE;
  const uint size = (uint)min((ulong)TW_SORT_TILE, count - first);
  tw_held held;
  uint place[TW_HELD];
  tw_load_tile_keys(keys + first_key + first, size, code, mode, stage, &held);
  tw_load_tile_values(values + first_value + first, first, size, mode, stage, &held);
  tw_tile_sort(&held, 0, 8 * TW_KEY_BYTES, stage, sums, place);
  __local const tw_key* staged = (__local const tw_key*)stage;
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    if (i < size) keys_out[first_key_out + first + i] = mode & TW_DECODE ? tw_decode(staged[i], code) : staged[i];
  }
#if TW_VALUE_BYTES
  barrier(CLK_LOCAL_MEM_FENCE);  // the keys are read
  __local tw_value* sorted = (__local tw_value*)stage;
  TW_MOVE_IN(sorted, place, held.value);
  barrier(CLK_LOCAL_MEM_FENCE);  // the values are in order
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    if (i < size) values_out[first_value_out + first + i] = sorted[i];
  }
#endif
}
