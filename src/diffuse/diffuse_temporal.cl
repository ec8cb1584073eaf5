// What:   diffuse/opencl:temporal: several steps of a tile in local memory.
// Order:  diffuse.cl.
// Shape:  TW_GROUP items fill a tile of TW_WIDTH x TW_HEIGHT elements and step it to a second one and back. With each
//         step the part of the tile that is right shrinks by a radius on each side; what is left is written.
// Limits: local memory for two tiles.
// Twins:  diffuse_serial.cpp.
#ifndef TW_WIDTH
#define TW_WIDTH 16
#define TW_HEIGHT 16
#endif

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_temporal(
    __global const TW_T* from, ulong from_first, __global TW_T* to, ulong to_first, ulong rows, ulong columns,
    uint steps, __constant const TW_T* w, ulong first_tile) {
  __local TW_T tiles[2][TW_HEIGHT * TW_WIDTH];
  const int halo = (int)steps * TW_RADIUS;
  const ulong across = (columns + TW_WIDTH - 2 * halo - 1) / (TW_WIDTH - 2 * halo);
  const ulong number = first_tile + get_group_id(0);
  const long top = (long)(number / across * (TW_HEIGHT - 2 * halo)) - halo;  // of the tile's first element
  const long left = (long)(number % across * (TW_WIDTH - 2 * halo)) - halo;
  for (int e = get_local_id(0); e < TW_HEIGHT * TW_WIDTH; e += TW_GROUP)
    tiles[0][e] = tw_element(from + from_first, top + e / TW_WIDTH, left + e % TW_WIDTH, rows, columns);
  for (uint step = 1; step <= steps; ++step) {
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const TW_T* const old = tiles[(step - 1) % 2];
    __local TW_T* const next = tiles[step % 2];
    const int margin = (int)step * TW_RADIUS;
    for (int e = get_local_id(0); e < TW_HEIGHT * TW_WIDTH; e += TW_GROUP) {
      const int y = e / TW_WIDTH, x = e % TW_WIDTH;
      if (y < margin || y >= TW_HEIGHT - margin || x < margin || x >= TW_WIDTH - margin) continue;
      // A ghost is stepped as the edge's element that it copies, which is nearer to the tile's middle.
      const long j = clamp(top + y, 0l, (long)rows - 1), i = clamp(left + x, 0l, (long)columns - 1);
      const TW_T value = tw_stepped(old + (j - top) * TW_WIDTH + (i - left), TW_WIDTH, w);
      if (step < steps)
        next[e] = tw_in_strip(j, i, rows, columns) ? (TW_T)1 : value;
      else if (j == top + y && i == left + x)
        to[to_first + j * columns + i] = tw_canonical(value);
    }
  }
}
