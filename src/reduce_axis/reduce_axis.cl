// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis/opencl. Tiles: the block value of every whole tile of each line, then of every whole tile of
//         those, until less than a tile of a line is left. Finish: what is left on each level, the highest first.
// Order:  that of reduce.cl, for each line: tiles are aligned blocks, what is left over are the digits of the length.
// Shape:  a group holds 2^log_lines lines side by side and 2^log_length elements of each, loaded in the order in which
//         they lie in memory: by lines where these are columns, by elements where they are rows.
// Limits: local memory for TW_TILE elements; at most TW_GROUP lines in a group.
// Twins:  reduce_axis_serial.cpp, reduce_axis_cuda.cu; embedded after order/operators.cl and order/block_tree.cl.

// Element e of line l is from[first + e * element + l * line].
static inline void tw_load(__global const TW_T* from, ulong first, ulong element, ulong line, uint length, uint lines,
                           uint log_length, uint log_lines, uint by_rows, __local TW_T* nodes) {
  for (uint i = get_local_id(0); i < 1u << (log_length + log_lines); i += TW_GROUP) {
    const uint e = by_rows ? i & ((1u << log_length) - 1) : i >> log_lines;
    const uint l = by_rows ? i >> log_length : i & ((1u << log_lines) - 1);
    if (e < length && l < lines) nodes[e << log_lines | l] = from[first + e * element + l * line];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // all elements are there
}

// The values of all blocks that lie within `length` elements, each at its first element unless a larger block has it.
static inline void tw_merge(__local TW_T* nodes, uint length, uint lines, uint log_lines) {
  for (uint k = 0; length >> (k + 1) != 0; ++k) {
    const uint pairs = length >> (k + 1) << log_lines;
    for (uint i = get_local_id(0); i < pairs; i += TW_GROUP) {
      const uint l = i & ((1u << log_lines) - 1), left = i >> log_lines << (k + 1 + log_lines) | l;
      if (l >= lines) continue;
      nodes[left] = tw_apply(nodes[left], nodes[left + (1u << (k + log_lines))]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // this level's blocks are there
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_tiles(__global const TW_T* from, ulong first,
                                                                             ulong element, ulong line, ulong lines,
                                                                             uint log_length, uint log_lines,
                                                                             uint by_rows, __global TW_T* values,
                                                                             ulong values_first, ulong first_tile) {
  __local TW_T nodes[TW_TILE];
  const ulong bands = (lines + (1ul << log_lines) - 1) >> log_lines, group = first_tile + get_group_id(0);
  const ulong tile = group / bands, begin = group % bands << log_lines;
  const uint present = (uint)min(lines - begin, 1ul << log_lines), length = 1u << log_length;
  tw_load(from, first + (tile << log_length) * element + begin * line, element, line, length, present, log_length,
          log_lines, by_rows, nodes);
  tw_merge(nodes, length, present, log_lines);
  if (get_local_id(0) < present) values[values_first + tile * lines + begin + get_local_id(0)] = nodes[get_local_id(0)];
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_finish(
    __global const TW_T* in, ulong in_first, ulong element, ulong line, ulong lines, ulong n, uint log_length,
    uint log_lines, uint by_rows, __global const TW_T* values, __global TW_T* out, ulong out_first, TW_T init,
    uint has_init, ulong first_tile) {
  __local TW_T nodes[TW_TILE];
  const ulong begin = (first_tile + get_group_id(0)) << log_lines;
  const uint present = (uint)min(lines - begin, 1ul << log_lines), me = get_local_id(0);
  TW_T prefix = TW_IDENTITY;
  int level = 0;
  while (n >> (level + 1) * log_length != 0) ++level;
  for (; level >= 0; --level) {
    const ulong count = n >> level * log_length, whole = count >> log_length << log_length;
    const uint rest = (uint)(count - whole);
    ulong at = 0;
    for (int below = 1; below < level; ++below) at += (n >> below * log_length) * lines;
    barrier(CLK_LOCAL_MEM_FENCE);  // the level before has been read
    if (level == 0)
      tw_load(in, in_first + whole * element + begin * line, element, line, rest, present, log_length, log_lines,
              by_rows, nodes);
    else
      tw_load(values, at + whole * lines + begin, lines, 1, rest, present, log_length, log_lines, 0, nodes);
    tw_merge(nodes, rest, present, log_lines);
    if (me >= present) continue;
    for (uint left = rest, position = 0, k = log_length; k-- > 0;) {
      if ((left >> k & 1) == 0) continue;
      prefix = tw_apply(prefix, nodes[position << log_lines | me]);
      position += 1u << k;
    }
  }
  if (me < present)
    out[out_first + begin + me] = tw_canonical(n == 0 ? init : has_init ? tw_apply(init, prefix) : prefix);
}
