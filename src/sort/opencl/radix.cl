// SPDX-License-Identifier: Apache-2.0
// What:   sort/opencl:radix. A pass sorts by one digit: tw_count makes each tile's histogram, tw_columns and tw_spine
//         scan them down the tiles, and tw_scatter sorts each tile by the digit and writes it out in runs.
// Order:  least significant digit first, every pass stable.
// Shape:  reduce-then-scan; groups do not wait for each other. A pass has four launches; three where each tile itself
//         adds up the few chunks' totals, two where it adds up the few tiles' histograms.
// Limits: digits of up to 8 bits; offsets within TW_ROWS tiles are 32-bit, all others 64-bit.
// Twins:  serial.cpp; embedded after program.cl.
#define TW_ROWS 64  // tiles whose histograms one group scans; radix.cpp has the same number
#define TW_DIGITS 256

static inline uint tw_digit(tw_key code, uint shift, uint bits) { return (uint)(code >> shift) & ((1u << bits) - 1); }

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_count(TW_LOOKED, __global uint* rows, uint shift,
                                                                             uint bits, ulong first_tile) {
  __local uint counts[TW_DIGITS];
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0), digits = 1u << bits;
  const ulong tile = first_tile + get_group_id(0), first = tile * TW_SORT_TILE;
  const uint size = (uint)min((ulong)TW_SORT_TILE, count - first);
  __global const tw_key* in = keys + first_key + first;
  for (uint d = me; d < digits; d += TW_GROUP) counts[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // the counts are zero
  tw_key loaded[TW_HELD];
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) loaded[q] = TW_STRIPED(q) < size ? in[TW_STRIPED(q)] : 0;
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const tw_key key = mode & TW_ENCODE ? tw_encode(loaded[q], code) : loaded[q];
    if (TW_STRIPED(q) < size) atomic_inc(&counts[tw_digit(key, shift, bits)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the counts are complete
  for (uint d = me; d < digits; d += TW_GROUP) rows[tile * digits + d] = counts[d];
}

// Down each digit's column of a chunk of tiles: counts become offsets in the chunk, `totals` gets a row for the chunk.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_columns(__global uint* rows, ulong tiles,
                                                                               __global ulong* totals, uint bits,
                                                                               ulong first_tile) {
  const uint digits = 1u << bits;
  const ulong chunk = first_tile + get_group_id(0), first = chunk * TW_ROWS;
  const uint size = (uint)min((ulong)TW_ROWS, tiles - first);
  for (uint d = get_local_id(0); d < digits; d += TW_GROUP) {
    __global uint* column = rows + first * digits + d;
    uint sum = 0;
    for (uint row = 0; row < size; row += 8) {
      uint loaded[8];  // several loads in flight
      _Pragma("unroll") for (uint j = 0; j < 8; ++j) loaded[j] = row + j < size ? column[(row + j) * digits] : 0;
      _Pragma("unroll") for (uint j = 0; j < 8; ++j) {
        if (row + j < size) column[(row + j) * digits] = sum;
        sum += loaded[j];
      }
    }
    totals[chunk * digits + d] = sum;
  }
}

// The same for the chunks' totals, by one group; the digits' bases follow as one more row.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_spine(__global ulong* totals, ulong chunks,
                                                                             uint bits, ulong first_tile) {
  __local ulong all[TW_DIGITS];
  const uint digits = 1u << bits;
  for (uint d = get_local_id(0); d < digits; d += TW_GROUP) {
    ulong sum = 0;
    for (ulong chunk = 0; chunk < chunks; chunk += 8) {
      ulong loaded[8];
      _Pragma("unroll") for (uint j = 0; j < 8; ++j) loaded[j] =
          chunk + j < chunks ? totals[(chunk + j) * digits + d] : 0;
      _Pragma("unroll") for (uint j = 0; j < 8; ++j) {
        if (chunk + j < chunks) totals[(chunk + j) * digits + d] = sum;
        sum += loaded[j];
      }
    }
    all[d] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the digits' totals are stored
  for (uint d = get_local_id(0); d < digits; d += TW_GROUP) {
    ulong base = 0;
    for (uint smaller = 0; smaller < d; ++smaller) base += all[smaller];
    totals[chunks * digits + d] = base;
  }
}

// What adds up the rows for tw_scatter; radix.cpp has the same numbers.
#define TW_BY_TILES 0   // each tile, from all tiles' counts
#define TW_BY_CHUNKS 1  // each tile, from all chunks' totals
#define TW_BY_SPINE 2   // tw_spine has done so

// Down the column of digit d in a few rows: the sum above row `mine`; `total` gets the sum of all.
#define TW_DEFINE_COLUMN(NAME, T)                                                                                      \
  static inline uint NAME(__global const T* rows, uint count, uint mine, uint digits, uint d, __private uint* total) { \
    uint before = 0, all = 0;                                                                                          \
    for (uint row = 0; row < count; ++row) {                                                                           \
      const uint some = (uint)rows[row * digits + d];                                                                  \
      before += row < mine ? some : 0;                                                                                 \
      all += some;                                                                                                     \
    }                                                                                                                  \
    *total = all;                                                                                                      \
    return before;                                                                                                     \
  }
TW_DEFINE_COLUMN(tw_column_of_tiles, uint)
TW_DEFINE_COLUMN(tw_column_of_chunks, ulong)

// Where each digit of a tile begins in the output. After the spine every total is 0 here, since it has the bases.
static inline void tw_tile_offsets(__global const uint* rows, ulong tiles, ulong tile, __global const ulong* totals,
                                   ulong chunks, uint added, uint digits, __local ulong* offsets, __local uint* sums) {
  const uint each = max(1u, digits / TW_GROUP), first = each * (uint)get_local_id(0);
  const ulong chunk = tile / TW_ROWS;
  uint held = 0, all;
  for (uint d = first; d < min(first + each, digits); ++d) {
    uint total = 0;
    ulong before;
    if (added == TW_BY_TILES)
      before = tw_column_of_tiles(rows, (uint)tiles, (uint)tile, digits, d, &total);
    else if (added == TW_BY_CHUNKS)
      before = rows[tile * digits + d] + tw_column_of_chunks(totals, (uint)chunks, (uint)chunk, digits, d, &total);
    else
      before = rows[tile * digits + d] + totals[chunk * digits + d] + totals[chunks * digits + d];
    offsets[d] = held + before;
    held += total;
  }
  const uint smaller = tw_sum_before(held, sums, &all);
  for (uint d = first; d < min(first + each, digits); ++d) offsets[d] += smaller;
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_scatter(TW_MOVED, __global const uint* rows,
                                                                               __global const ulong* totals,
                                                                               ulong chunks, uint added, uint shift,
                                                                               uint bits, ulong first_tile) {
  __local ulong stage[TW_STAGE_UNITS], offsets[TW_DIGITS];
  __local uint sums[TW_SUMS];
  const tw_code code = TW_CODE;
  const uint digits = 1u << bits;
  const ulong tile = first_tile + get_group_id(0), first = tile * TW_SORT_TILE;
  const uint size = (uint)min((ulong)TW_SORT_TILE, count - first);
  const ulong tiles = (count + TW_SORT_TILE - 1) / TW_SORT_TILE;
  tw_tile_offsets(rows, tiles, tile, totals, chunks, added, digits, offsets, sums);
  tw_held held;
  uint place[TW_HELD];
  tw_load_tile_keys(keys + first_key + first, size, code, mode, stage, &held);
  tw_load_tile_values(values + first_value + first, first, size, mode, stage, &held);
  tw_tile_sort(&held, shift, bits, stage, sums, place);
  __local const tw_key* staged = (__local const tw_key*)stage;
  tw_key sorted[TW_HELD];
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    sorted[q] = staged[i];
    const uint digit = tw_digit(sorted[q], shift, bits);
    // Where a run of one digit starts in the tile, its place in the output is offset + i.
    if (i == 0 || tw_digit(staged[i == 0 ? 0 : i - 1], shift, bits) != digit) offsets[digit] -= i;
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the offsets count from the tile's start, and the keys are read
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    const ulong to = offsets[tw_digit(sorted[q], shift, bits)] + i;
    if (i < size) keys_out[first_key_out + to] = mode & TW_DECODE ? tw_decode(sorted[q], code) : sorted[q];
  }
#if TW_VALUE_BYTES
  __local tw_value* moved = (__local tw_value*)stage;
  TW_MOVE_IN(moved, place, held.value);
  barrier(CLK_LOCAL_MEM_FENCE);  // the values are in order
  _Pragma("unroll") for (int q = 0; q < TW_HELD; ++q) {
    const uint i = TW_STRIPED(q);
    const ulong to = offsets[tw_digit(sorted[q], shift, bits)] + i;
    if (i < size) values_out[first_value_out + to] = moved[i];
  }
#endif
}
