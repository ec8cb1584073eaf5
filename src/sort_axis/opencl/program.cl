// SPDX-License-Identifier: Apache-2.0
// What:   what the programs of sort_axis/opencl share: a tile of runs that a group sorts in local memory, and lines
//         copied to where they lie side by side in the other direction (tw_copy_lines).
// Order:  by code (sort/code.hpp). Equal codes are equal bits, so a network, which is not stable, sorts keys.
// Shape:  an item sorts TW_HELD keys in registers by Batcher's network. Then items merge neighbouring runs, each an
//         equal piece of the merged run: the right run lies backwards after the left one, so that the cursor of an
//         exhausted run meets the other run's greatest key, and no step has to check where a run ends.
// Limits: TW_HELD is odd, so that items that step through their pieces meet different banks, and at most 33.
// Twins:  sort/cuda/merge_tile.cuh, sort/cuda/merge_network.cuh; embedded after sort/opencl/key_code.cl,
//         before lines.cl, rows.cl and short.cl. variants.cpp gives TW_HELD.
#ifndef TW_HELD
#define TW_HELD 33
#endif
#define TW_ROOM (TW_GROUP * TW_HELD)
#define TW_SLOTS (TW_ROOM + 2 * TW_HELD)  // with room before and after, where a cursor may read what is not used

// The network of sort/network.hpp: a step compares keys `distance` apart that are in one pair of runs. Which these are
// is known when the loop is unrolled.
#define TW_STEP(run, distance)                                                               \
  _Pragma("unroll") for (int i = (distance) % (run); i + (distance) < TW_HELD; ++i) {        \
    const int j = i + (distance);                                                            \
    if ((i - (distance) % (run)) / (distance) % 2 == 0 && ((i ^ j) & ~(2 * (run)-1)) == 0) { \
      const tw_key low = min(own[i], own[j]);                                                \
      own[j] = max(own[i], own[j]);                                                          \
      own[i] = low;                                                                          \
    }                                                                                        \
  }

static inline void tw_sort_held(tw_key* own) {
  TW_STEP(1, 1);
  TW_STEP(2, 2);
  TW_STEP(2, 1);
#if TW_HELD > 4
  TW_STEP(4, 4);
  TW_STEP(4, 2);
  TW_STEP(4, 1);
#endif
#if TW_HELD > 8
  TW_STEP(8, 8);
  TW_STEP(8, 4);
  TW_STEP(8, 2);
  TW_STEP(8, 1);
#endif
#if TW_HELD > 16
  TW_STEP(16, 16);
  TW_STEP(16, 8);
  TW_STEP(16, 4);
  TW_STEP(16, 2);
  TW_STEP(16, 1);
#endif
#if TW_HELD > 32
  TW_STEP(32, 32);
  TW_STEP(32, 16);
  TW_STEP(32, 8);
  TW_STEP(32, 4);
  TW_STEP(32, 2);
  TW_STEP(32, 1);
#endif
}

// Two runs in a tile: the left one ascends from slot `begin` on, the right one descends to slot `end` - 1.
typedef struct {
  uint begin, left, right, end;  // left and right are lengths
} tw_facing;

// How many of the first `diagonal` merged keys are the left run's.
static inline uint tw_merge_path(__local const tw_key* slots, tw_facing runs, uint diagonal) {
  uint low = diagonal > runs.right ? diagonal - runs.right : 0, high = min(diagonal, runs.left);
  __local const tw_key *left = slots + runs.begin, *right = slots + runs.end - diagonal;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (left[middle] <= right[middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Merges the item's piece, from `diagonal` on.
static inline void tw_merge_piece(__local const tw_key* slots, tw_facing runs, uint diagonal, tw_key* own) {
  const uint taken = tw_merge_path(slots, runs, diagonal);
  // Signed, since b may go below 0 after the last key.
  int a = (int)(runs.begin + taken), b = (int)(runs.end - 1 - (diagonal - taken));
  tw_key next_a = slots[a], next_b = slots[b];
  _Pragma("unroll") for (int i = 0; i < TW_HELD; ++i) {
    const bool left = next_a <= next_b;
    own[i] = left ? next_a : next_b;
    if (i + 1 == TW_HELD) break;
    a += left ? 1 : 0;
    b -= left ? 0 : 1;
    const tw_key read = slots[left ? a : b];
    next_a = left ? read : next_a;
    next_b = left ? next_b : read;
  }
}

// Puts a piece into the tile from slot `first` on, forwards or backwards.
static inline void tw_put_back(__local tw_key* slots, const tw_key* own, uint first, bool backwards) {
  _Pragma("unroll") for (int i = 0; i < TW_HELD; ++i) slots[backwards ? first - i : first + i] = own[i];
}

// Sorts the keys of each run of `run_items` items, a power of two, by themselves, where own[i] is the key of slot
// TW_HELD * item + i. What is in the slots may still be read by others once it returns. Not static: where only one
// kernel calls it, the inliner of PoCL (LLVM 15) crashes on it.
void tw_sort_runs(__local tw_key* slots, tw_key* own, uint run_items) {
  const uint me = get_local_id(0);
  tw_sort_held(own);
  const bool is_right = run_items > 1 && me % 2 != 0;
  tw_put_back(slots, own, is_right ? me * TW_HELD + TW_HELD - 1 : me * TW_HELD, is_right);
  barrier(CLK_LOCAL_MEM_FENCE);  // the first runs are stored
  for (uint items = 1; items < run_items; items *= 2) {
    const uint pair = me & ~(2 * items - 1), diagonal = (me - pair) * TW_HELD;
    const tw_facing runs = {pair * TW_HELD, items * TW_HELD, items * TW_HELD, (pair + 2 * items) * TW_HELD};
    tw_merge_piece(slots, runs, diagonal, own);
    barrier(CLK_LOCAL_MEM_FENCE);  // the pair's items have read
    const bool backwards = 2 * items < run_items && (me & 2 * items) != 0;
    tw_put_back(slots, own, backwards ? runs.end - 1 - diagonal : runs.begin + diagonal, backwards);
    barrier(CLK_LOCAL_MEM_FENCE);  // the next runs are stored
  }
}

// Where the elements of lines lie: element e of line l is at first + l * line + e * element.
#define TW_LINES_IN __global const tw_key *in, ulong in_first, ulong in_line, ulong in_element
#define TW_LINES_OUT __global tw_key *out, ulong out_first, ulong out_line, ulong out_element

// Copies lines by squares, which are read and written in the order in which they lie in memory.
#define TW_SIDE 32
#define TW_SQUARE_ROWS (TW_GROUP / TW_SIDE)  // at once
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_copy_lines(TW_LINES_IN, TW_LINES_OUT,
                                                                                  ulong count, ulong length,
                                                                                  ulong bands, ulong first_tile) {
  __local tw_key square[TW_SIDE * (TW_SIDE + 1)];
  const ulong group = first_tile + get_group_id(0), band = group / bands;
  const ulong line = (group - band * bands) * TW_SIDE, element = band * TW_SIDE;
  const uint x = get_local_id(0) % TW_SIDE, y = get_local_id(0) / TW_SIDE;
  // All loads are under way at once: those past an end read the last element instead.
  tw_key loaded[TW_SIDE / TW_SQUARE_ROWS];
  _Pragma("unroll") for (uint k = 0; k < TW_SIDE / TW_SQUARE_ROWS; ++k) {
    const uint at = k * TW_SQUARE_ROWS + y, l = in_element == 1 ? at : x, e = in_element == 1 ? x : at;
    loaded[k] = in[in_first + min(line + l, count - 1) * in_line + min(element + e, length - 1) * in_element];
  }
  _Pragma("unroll") for (uint k = 0; k < TW_SIDE / TW_SQUARE_ROWS; ++k) {
    const uint at = k * TW_SQUARE_ROWS + y, l = in_element == 1 ? at : x, e = in_element == 1 ? x : at;
    square[e * (TW_SIDE + 1) + l] = loaded[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the square is loaded
  _Pragma("unroll") for (uint k = 0; k < TW_SIDE / TW_SQUARE_ROWS; ++k) {
    const uint at = k * TW_SQUARE_ROWS + y, l = out_element == 1 ? at : x, e = out_element == 1 ? x : at;
    if (line + l < count && element + e < length)
      out[out_first + (line + l) * out_line + (element + e) * out_element] = square[e * (TW_SIDE + 1) + l];
  }
}
