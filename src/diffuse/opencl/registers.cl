// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/opencl:registers: several steps of a tile that its group holds in registers.
// Order:  the mask's rows in order, in each its columns in order; each product and each sum is rounded.
// Shape:  32 items side by side hold TW_HELD rows of the tile, TW_COLUMNS neighbouring elements of each; TW_WARPS such
//         bands lie one below the other. Neighbours in a row come from the item beside, those above and below from
//         bands that share their outer rows in local memory. With each step the valid part of the tile shrinks by a
//         radius on each side, but not where the tile ends with the field: beyond an edge stand copies of the edge.
// Limits: the field is no smaller than a tile; TW_HELD >= TW_RADIUS; embedded after program.cl.
// Twins:  serial.cpp, cuda/registers.cuh.
#ifndef TW_COLUMNS
#define TW_COLUMNS 2
#define TW_HELD 4
#define TW_WARPS 4
#endif
#define TW_LANES 32
#define TW_TILE_WIDTH (TW_LANES * TW_COLUMNS)
#define TW_TILE_HEIGHT (TW_WARPS * TW_HELD)
#define TW_WIDE (TW_COLUMNS + 2 * TW_RADIUS)  // an item's part of a row, and its neighbours
#define TW_SHARED (2 * TW_RADIUS)             // rows of a band that others read: its first ones and its last ones

// Of one direction: where a tile begins, and what of the field is its own. The last tile ends with the field.
typedef struct {
  int origin, begin, end;
} tw_extent;

static inline tw_extent tw_extent_of(int index, int count, int length, int size, int halo) {
  const int step = size - 2 * halo;
  tw_extent e;
  e.origin = min(index * step, length - size);
  e.begin = index == 0 ? 0 : index * step + halo;
  e.end = index + 1 == count ? length : (index + 1) * step + halo;
  return e;
}

// What the items beside this one hold: before[r] is element TW_COLUMNS - TW_RADIUS + r of the one to the left, and
// after[r] is element r of the one to the right. At the ends of a row they stand for nothing.
#ifdef __NV_CL_C_VERSION
#define TW_SHUFFLE(to, from, way, end) \
  asm volatile("shfl.sync." way ".b32 %0, %1, 1, " end ", 0xffffffff;" : "=r"(to) : "r"(from))
#define TW_BESIDE(T, to, from, way, end)         \
  {                                              \
    if (sizeof(T) == 4) {                        \
      uint bits;                                 \
      TW_SHUFFLE(bits, TW_LOW(from), way, end);  \
      to = TW_JOINED(bits, bits);                \
    } else {                                     \
      uint low, high;                            \
      TW_SHUFFLE(low, TW_LOW(from), way, end);   \
      TW_SHUFFLE(high, TW_HIGH(from), way, end); \
      to = TW_JOINED(low, high);                 \
    }                                            \
  }
#ifdef TW_FP64
#define TW_LOW(x) as_uint2(x).s0
#define TW_HIGH(x) as_uint2(x).s1
#define TW_JOINED(low, high) as_double((uint2)(low, high))
#else
#define TW_LOW(x) as_uint(x)
#define TW_HIGH(x) as_uint(x)
#define TW_JOINED(low, high) as_float(low)
#endif
#define TW_EDGES 1
static inline void tw_look_beside(const TW_T* row, __local TW_T* unused, TW_T* before, TW_T* after) {
  _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
    TW_BESIDE(TW_T, before[r], row[TW_COLUMNS - TW_RADIUS + r], "up", "0")
    TW_BESIDE(TW_T, after[r], row[r], "down", "31")
  }
}
#else
// Elsewhere through local memory; two rooms alternate, so that one barrier will do.
#define TW_EDGES (2 * 2 * TW_RADIUS * TW_WARPS * TW_LANES)
static inline void tw_look_beside(const TW_T* row, __local TW_T* room, TW_T* before, TW_T* after) {
  const int me = get_local_id(1) * TW_LANES + get_local_id(0), all = TW_WARPS * TW_LANES;
  _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
    room[r * all + me] = row[TW_COLUMNS - TW_RADIUS + r];
    room[(TW_RADIUS + r) * all + me] = row[r];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the outer elements are there
  _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
    before[r] = room[r * all + max(me - 1, 0)];
    after[r] = room[(TW_RADIUS + r) * all + min(me + 1, all - 1)];
  }
}
#endif

// An item's part of a row with its neighbours; beyond the tile are copies of the outer elements.
static inline void tw_widen(const TW_T* row, __local TW_T* room, TW_T* wide) {
  TW_T before[TW_RADIUS], after[TW_RADIUS];
  tw_look_beside(row, room, before, after);
  _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) wide[TW_RADIUS + v] = row[v];
  _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
    wide[r] = get_local_id(0) == 0 ? row[0] : before[r];
    wide[TW_RADIUS + TW_COLUMNS + r] = get_local_id(0) == TW_LANES - 1 ? row[TW_COLUMNS - 1] : after[r];
  }
}

// Where element v of this item's part of a row is in local memory: neighbouring items meet different banks.
#define TW_SLOT(lane, v) ((v)*TW_LANES + (lane))

static inline void tw_share(const TW_T* row, __local TW_T* to) {
  _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) to[TW_SLOT(get_local_id(0), v)] = row[v];
}

// A shared row as tw_widen gives it.
static inline void tw_read_wide(__local const TW_T* from, TW_T* wide) {
  const int lane = get_local_id(0);
  _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) wide[TW_RADIUS + v] = from[TW_SLOT(lane, v)];
  _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
    wide[r] = from[lane == 0 ? 0 : TW_SLOT(lane - 1, TW_COLUMNS - TW_RADIUS + r)];
    wide[TW_RADIUS + TW_COLUMNS + r] =
        from[lane == TW_LANES - 1 ? TW_SLOT(lane, TW_COLUMNS - 1) : TW_SLOT(lane + 1, r)];
  }
}

// Rows that come in one after another.
typedef struct {
  TW_T row[2 * TW_RADIUS + 1][TW_WIDE];
} tw_window;

// The window's middle row one step later.
#define TW_AT(dy, dx) window->row[TW_RADIUS + (dy)][TW_RADIUS + v + (dx)]
static inline void tw_step_plainly(const tw_window* window, const TW_T* w, TW_T* row) {
  _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) {
    TW_T lap;
    TW_LAPLACIAN(lap)
    row[v] = TW_AT(0, 0) + w[TW_RATE] * lap;
  }
}

#if TW_MASK == 53
static inline void tw_step_scaled(const tw_window* window, const TW_T* w, TW_T* row) {
  _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) {
    TW_T lap = TW_AT(-1, 0) + TW_AT(0, -1);
    lap = fma((TW_T)-4, TW_AT(0, 0), lap);  // an exact product: fused or not, the bits are the same
    lap = lap + TW_AT(0, 1);
    lap = lap + TW_AT(1, 0);
    row[v] = TW_AT(0, 0) + w[TW_SCALED_RATE] * lap;
  }
}
#endif
#undef TW_AT

static inline void tw_step_middle(const tw_window* window, const TW_T* w, bool is_scaled, TW_T* row) {
#if TW_MASK == 53
  if (is_scaled) {
    tw_step_scaled(window, w, row);
    return;
  }
#endif
  tw_step_plainly(window, w, row);
}

// Whether a value is so large that the scaled form of five points will not do, or not a number.
#ifdef TW_FP64
#define TW_HUGE 0x1p1000
#else
#define TW_HUGE 0x1p100f
#endif

static inline void tw_move_up(tw_window* window) {
  _Pragma("unroll") for (int n = 0; n < 2 * TW_RADIUS; ++n) {
    _Pragma("unroll") for (int c = 0; c < TW_WIDE; ++c) window->row[n][c] = window->row[n + 1][c];
  }
}

// `own` are the rows that the item's band shares.
static inline void tw_one_step(TW_T mine[][TW_COLUMNS], __local const TW_T* own, __local TW_T* edges, const TW_T* w,
                               bool is_scaled) {
  const bool is_first = get_local_id(1) == 0, is_last = get_local_id(1) == TW_WARPS - 1;
  tw_window window;
  // Beyond the field, and beyond the tile where it is used up anyway, stand copies of the outer row.
  _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
    tw_move_up(&window);
    tw_read_wide(own + (is_first ? 0 : r - TW_RADIUS) * TW_TILE_WIDTH, window.row[2 * TW_RADIUS]);
  }
  _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
    tw_move_up(&window);
    tw_widen(mine[k], edges + (k & 1) * (TW_EDGES / 2), window.row[2 * TW_RADIUS]);
    if (k >= TW_RADIUS) tw_step_middle(&window, w, is_scaled, mine[k - TW_RADIUS]);
  }
  _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
    tw_move_up(&window);
    tw_read_wide(own + (is_last ? TW_SHARED - 1 : TW_SHARED + r) * TW_TILE_WIDTH, window.row[2 * TW_RADIUS]);
    tw_step_middle(&window, w, is_scaled, mine[TW_HELD - TW_RADIUS + r]);
  }
}

// Whether all rows of the tile begin on units of 16 bytes; TW_V has TW_W elements.
#define TW_MAY_PACK (TW_COLUMNS % TW_W == 0)

static inline void tw_load(__global const TW_T* from, long pitch, bool is_packed, TW_T mine[][TW_COLUMNS]) {
#if TW_MAY_PACK
  if (is_packed) {
    _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
      _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; v += TW_W) {
        const TW_V u = *(__global const TW_V*)(from + k * pitch + v);
        mine[k][v] = u.s0;
        mine[k][v + 1] = u.s1;
#if TW_W == 4
        mine[k][v + 2] = u.s2;
        mine[k][v + 3] = u.s3;
#endif
      }
    }
    return;
  }
#endif
  _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
    _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) mine[k][v] = from[k * pitch + v];
  }
}

// Stores what is within [left, right) and [top, bottom), counted from the item's first element.
static inline void tw_store(TW_T mine[][TW_COLUMNS], int left, int right, int top, int bottom, bool is_packed,
                            __global TW_T* to, long pitch) {
  _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
    _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) mine[k][v] = tw_canonical(mine[k][v]);
  }
#if TW_MAY_PACK
  if (is_packed) {
    _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
      _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; v += TW_W) {
#if TW_W == 4
        const TW_V u = (TW_V)(mine[k][v], mine[k][v + 1], mine[k][v + 2], mine[k][v + 3]);
#else
        const TW_V u = (TW_V)(mine[k][v], mine[k][v + 1]);
#endif
        if (k >= top && k < bottom && v >= left && v < right) *(__global TW_V*)(to + k * pitch + v) = u;
      }
    }
    return;
  }
#endif
  _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
    _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) {
      if (k >= top && k < bottom && v >= left && v < right) to[k * pitch + v] = mine[k][v];
    }
  }
}

// As registers.cpp has it.
typedef struct {
  TW_T of[TW_SCALED_RATE + 1];
} tw_weights;

__kernel __attribute__((reqd_work_group_size(TW_LANES, TW_WARPS, 1))) void tw_steps_in_registers(
    __global const TW_T* from, ulong from_first, __global TW_T* to, ulong to_first, int rows, int columns,
    int half_rows, int across, int down, uint steps, uint can_scale, uint is_packed, tw_weights w, ulong first_tile) {
  __local TW_T shared[TW_WARPS * TW_SHARED * TW_TILE_WIDTH], edges[TW_EDGES];
  __local int is_any_huge;
  const int halo = (int)steps * TW_RADIUS, number = (int)(first_tile + get_group_id(0));
  const tw_extent x = tw_extent_of(number % across, across, columns, TW_TILE_WIDTH, halo);
  const tw_extent y = tw_extent_of(number / across, down, rows, TW_TILE_HEIGHT, halo);
  const int band = get_local_id(1), i = x.origin + get_local_id(0) * TW_COLUMNS, j = y.origin + band * TW_HELD;
  TW_T mine[TW_HELD][TW_COLUMNS];
  tw_load(from + from_first + (long)j * columns + i, columns, is_packed != 0, mine);
  bool is_huge = can_scale == 0;
  _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
    _Pragma("unroll") for (int v = 0; v < TW_COLUMNS; ++v) is_huge |= !(fabs(mine[k][v]) < TW_HUGE);
  }
  if (get_local_id(0) == 0 && band == 0) is_any_huge = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // no value is huge so far
  if (is_huge) is_any_huge = 1;
  const bool has_left = i == 0, has_right = i + TW_COLUMNS == columns;
  const bool is_at_edge = x.origin == 0 || x.origin + TW_TILE_WIDTH == columns;
  for (uint step = 0; step < steps; ++step) {
    if (is_at_edge) {
      _Pragma("unroll") for (int k = 0; k < TW_HELD; ++k) {
        mine[k][0] = has_left && j + k < half_rows ? (TW_T)1 : mine[k][0];
        mine[k][TW_COLUMNS - 1] = has_right && j + k >= half_rows ? (TW_T)1 : mine[k][TW_COLUMNS - 1];
      }
    }
    // A band's first rows and then its last ones.
    __local TW_T* const own = shared + band * TW_SHARED * TW_TILE_WIDTH;
    _Pragma("unroll") for (int r = 0; r < TW_RADIUS; ++r) {
      tw_share(mine[r], own + r * TW_TILE_WIDTH);
      tw_share(mine[TW_HELD - TW_RADIUS + r], own + (TW_RADIUS + r) * TW_TILE_WIDTH);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the bands' outer rows are there
    // A step for each form: a branch at each row or element makes the compiler end one before the next begins. No
    // barrier is in a branch where tw_look_beside has one.
    const bool is_scaled = is_any_huge == 0;
#ifdef __NV_CL_C_VERSION
    if (is_scaled)
      tw_one_step(mine, own, edges, w.of, true);
    else
      tw_one_step(mine, own, edges, w.of, false);
#else
    tw_one_step(mine, own, edges, w.of, is_scaled);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);  // and read
  }
  tw_store(mine, x.begin - i, x.end - i, y.begin - j, y.end - j, is_packed != 0, to + to_first + (long)j * columns + i,
           columns);
}
