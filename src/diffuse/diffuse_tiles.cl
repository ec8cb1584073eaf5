// What:   diffuse/opencl:tiles: one step; a group copies its tile with the halo into local memory.
// Order:  diffuse.cl.
// Shape:  TW_WIDTH x TW_HEIGHT items, each copies an element; those that have a whole mask within the tile step one.
// Limits: local memory for one tile.
// Twins:  diffuse_serial.cpp, diffuse_cuda_tiles.cu.
#ifndef TW_WIDTH
#define TW_WIDTH 16
#define TW_HEIGHT 16
#endif

__kernel __attribute__((reqd_work_group_size(TW_WIDTH, TW_HEIGHT, 1))) void tw_tiles(
    __global const TW_T* from, ulong from_first, __global TW_T* to, ulong to_first, ulong rows, ulong columns,
    __constant const TW_T* w, ulong first_tile) {
  __local TW_T tile[TW_HEIGHT][TW_WIDTH];
  const ulong across = (columns + TW_WIDTH - 2 * TW_RADIUS - 1) / (TW_WIDTH - 2 * TW_RADIUS);
  const ulong number = first_tile + get_group_id(0);
  const int x = get_local_id(0), y = get_local_id(1);
  const long j = (long)(number / across * (TW_HEIGHT - 2 * TW_RADIUS)) + y - TW_RADIUS;
  const long i = (long)(number % across * (TW_WIDTH - 2 * TW_RADIUS)) + x - TW_RADIUS;
  tile[y][x] = tw_element(from + from_first, j, i, rows, columns);
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool is_inner = x >= TW_RADIUS && x < TW_WIDTH - TW_RADIUS && y >= TW_RADIUS && y < TW_HEIGHT - TW_RADIUS;
  if (is_inner && j < rows && i < columns)
    to[to_first + j * columns + i] = tw_canonical(tw_stepped(&tile[y][x], TW_WIDTH, w));
}
