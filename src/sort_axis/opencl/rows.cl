// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis/opencl: rows that are longer than a tile, all at once. tw_sort_tiles sorts tiles that end where
//         their row ends; each pass then merges up to four neighbouring runs of a row into one: tw_split_tiles finds
//         which pieces of the runs meet in each tile of the output, and tw_merge_tiles merges them.
// Order:  by code (sort/code.hpp); rows hold codes between the first launch and the last.
// Shape:  a launch has a group for each tile of each row. A group merges the first piece with the second and the third
//         with the fourth, and then the two results.
// Limits: rows are shorter than 2^31. A tile is shorter than its room by one item's keys, so that it can be cut in two
//         anywhere and both parts begin with a new item.
// Twins:  cuda/rows.cuh, sort/cuda/merge_pass.cuh, sort/cuda/merge_select.cuh; embedded after program.cl.
#define TW_ROWS_TILE (TW_ROOM - TW_HELD)
#define TW_WAYS 4

// Rows on their way from one memory to another, `length` long and `tiles` tiles each.
#define TW_ROWS_MOVED                                                                                   \
  __global const tw_key *from, ulong from_first, ulong from_pitch, __global tw_key *to, ulong to_first, \
      ulong to_pitch, uint length, uint tiles

// Loads the tile's first `size` keys from where `source` says; all loads are under way at once, and those past the end
// read the last key instead.
#define TW_LOAD_TILE(source)                             \
  tw_key loaded[TW_HELD];                                \
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) { \
    const uint i = min((uint)TW_STRIPED(q), size - 1);   \
    loaded[q] = row_from[source];                        \
  }

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_sort_tiles(TW_ROWS_MOVED, TW_CODE_WORDS,
                                                                                  ulong first_tile) {
  __local tw_key tile[TW_SLOTS];
  __local tw_key* slots = tile + TW_HELD;
  const tw_code code = TW_CODE;
  const uint me = get_local_id(0);
  const ulong group = first_tile + get_group_id(0), row = group / tiles;
  const uint begin = (uint)(group - row * tiles) * TW_ROWS_TILE, size = min(length - begin, (uint)TW_ROWS_TILE);
  __global const tw_key* row_from = from + from_first + row * from_pitch + begin;
  TW_LOAD_TILE(i)
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) {
    slots[TW_STRIPED(q)] = TW_STRIPED(q) < size ? tw_encode(loaded[q], code) : ~(tw_key)0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the tile is loaded, and may be overwritten
  _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) loaded[i] = slots[me * TW_HELD + i];
  tw_sort_runs(slots, loaded, TW_GROUP);
  barrier(CLK_LOCAL_MEM_FENCE);  // the tile is sorted
  __global tw_key* row_to = to + to_first + row * to_pitch + begin;
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) {
    if (TW_STRIPED(q) < size) row_to[TW_STRIPED(q)] = slots[TW_STRIPED(q)];
  }
}

// A place in each of the runs that are merged.
typedef struct {
  uint at[TW_WAYS];
} tw_split;

// Where the runs of the four around place `at` begin; run TW_WAYS is their end.
static inline uint tw_run_start(uint at, uint run, uint r, uint length) {
  return (uint)min(at / (TW_WAYS * run) * TW_WAYS * (ulong)run + r * (ulong)run, (ulong)length);
}

// Where the first `wanted` merged keys of the runs around a place end. The least of samples `step` apart has at most
// step - 1 keys of each other run before it, so it is one of those wanted as long as these are more than
// TW_WAYS * (step - 1). TW_AHEAD samples of each run are read at a time, and as many passed.
#define TW_AHEAD 2
static inline tw_split tw_select(__global const tw_key* keys, tw_split found, tw_split ends, uint wanted) {
  while (wanted > 0) {
    const uint step = max((wanted + TW_WAYS - 1) / (TW_WAYS + TW_AHEAD - 1), 1u);
    tw_key sample[TW_WAYS][TW_AHEAD];
    uint left[TW_WAYS];
    _Pragma("unroll") for (uint r = 0; r < TW_WAYS; ++r) {
      left[r] = 0;
      _Pragma("unroll") for (uint i = 0; i < TW_AHEAD; ++i) {
        const uint after = found.at[r] + (i + 1) * step;
        sample[r][i] = keys[min(after, ends.at[TW_WAYS - 1]) - 1];
        left[r] += after <= ends.at[r] ? 1 : 0;
      }
    }
    _Pragma("unroll") for (uint pass = 0; pass < TW_AHEAD; ++pass) {
      const bool passes = wanted > TW_WAYS * (step - 1);
      uint least = TW_WAYS;
      tw_key key = 0;
      _Pragma("unroll") for (uint r = 0; r < TW_WAYS; ++r) {
        const bool is_less = left[r] > 0 && (least == TW_WAYS || sample[r][0] < key);
        least = is_less ? r : least;
        key = is_less ? sample[r][0] : key;
      }
      _Pragma("unroll") for (uint r = 0; r < TW_WAYS; ++r) {
        const bool moves = passes && r == least;
        found.at[r] += moves ? step : 0;
        left[r] -= moves ? 1 : 0;
        _Pragma("unroll") for (uint i = 0; i + 1 < TW_AHEAD; ++i) sample[r][i] =
            moves ? sample[r][i + 1] : sample[r][i];
      }
      wanted -= passes ? step : 0;
    }
  }
  return found;
}

// splits[t]: where tile t, counted through all rows, begins in each of the runs of its row that it merges.
__kernel void tw_split_tiles(__global const tw_key* from, ulong from_first, ulong from_pitch, uint length, uint tiles,
                             ulong all, uint run, __global tw_split* splits, ulong first_tile) {
  const ulong t = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0);
  if (t >= all) return;
  const ulong row = t / tiles;
  const uint begin = (uint)(t - row * tiles) * TW_ROWS_TILE;
  tw_split starts, ends;
  _Pragma("unroll") for (uint r = 0; r < TW_WAYS; ++r) {
    starts.at[r] = tw_run_start(begin, run, r, length);
    ends.at[r] = tw_run_start(begin, run, r + 1, length);
  }
  splits[t] = tw_select(from + from_first + row * from_pitch, starts, ends, begin - starts.at[0]);
}

// Merges the four pieces that lie side by side in the tile, every second one backwards, from `first` on.
void tw_merge_pieces(__local tw_key* slots, const uint* first, tw_key* own) {
  const uint me = get_local_id(0), middle = first[2], all = first[4], half_items = (middle + TW_HELD - 1) / TW_HELD;
  const bool upper = me >= half_items;
  const tw_facing runs = {upper ? middle : 0, upper ? first[3] - middle : first[1],
                          upper ? all - first[3] : middle - first[1], upper ? all : middle};
  const uint merged = runs.left + runs.right, diagonal = (me - (upper ? half_items : 0)) * TW_HELD;
  if (diagonal < merged) tw_merge_piece(slots, runs, diagonal, own);
  // The greatest codes fill the tile between the halves.
  _Pragma("unroll") for (uint i = 0; i < TW_HELD; ++i) own[i] = diagonal + i < merged ? own[i] : ~(tw_key)0;
  barrier(CLK_LOCAL_MEM_FENCE);  // all items have read
  tw_put_back(slots, own, upper ? TW_ROOM - 1 - diagonal : diagonal, upper);
  barrier(CLK_LOCAL_MEM_FENCE);  // both halves are merged
  const tw_facing halves = {0, middle, all - middle, TW_ROOM};
  const uint mine = me * TW_HELD;
  const bool has_more = mine < all && middle < all;  // else there are two runs, which are merged
  if (has_more) tw_merge_piece(slots, halves, mine, own);
  barrier(CLK_LOCAL_MEM_FENCE);  // all items have read
  if (has_more) tw_put_back(slots, own, mine, false);
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_merge_tiles(TW_ROWS_MOVED, TW_CODE_WORDS,
                                                                                   uint run,
                                                                                   __global const tw_split* splits,
                                                                                   uint mode, ulong first_tile) {
  __local tw_key tile[TW_SLOTS];
  __local tw_key* slots = tile + TW_HELD;
  const tw_code code = TW_CODE;
  const ulong group = first_tile + get_group_id(0), row = group / tiles;
  const uint begin = (uint)(group - row * tiles) * TW_ROWS_TILE, size = min(length - begin, (uint)TW_ROWS_TILE);
  const bool is_last = begin + size == tw_run_start(begin, run, TW_WAYS, length);
  uint first[TW_WAYS + 1], base[TW_WAYS];  // where pieces begin, and where their slot 0 would lie in the row
  first[0] = 0;
  _Pragma("unroll") for (uint r = 0; r < TW_WAYS; ++r) {
    const uint piece = splits[group].at[r];
    const uint end = is_last ? tw_run_start(begin, run, r + 1, length) : splits[group + 1].at[r];
    first[r + 1] = first[r] + end - piece;
    base[r] = r % 2 == 0 ? piece - first[r] : piece + first[r + 1] - 1;
  }
  __global const tw_key* row_from = from + from_first + row * from_pitch;
  TW_LOAD_TILE((i < first[1] ? base[0] + i : i < first[2] ? base[1] - i : i < first[3] ? base[2] + i : base[3] - i))
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) slots[TW_STRIPED(q)] = loaded[q];
  barrier(CLK_LOCAL_MEM_FENCE);  // the pieces are loaded
  tw_merge_pieces(slots, first, loaded);
  barrier(CLK_LOCAL_MEM_FENCE);  // and merged
  __global tw_key* row_to = to + to_first + row * to_pitch + begin;
  _Pragma("unroll") for (uint q = 0; q < TW_HELD; ++q) {
    if (TW_STRIPED(q) < size)
      row_to[TW_STRIPED(q)] = mode & TW_DECODE ? tw_decode(slots[TW_STRIPED(q)], code) : slots[TW_STRIPED(q)];
  }
}
