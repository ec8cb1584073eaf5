// SPDX-License-Identifier: Apache-2.0
// What:   copies within a device's memory: contiguous bytes in units of 16 bytes, or rows in units of 4.
// Order:  none; only data moves.
// Shape:  a work-item copies TW_FLIGHT units and loads all of them before it stores the first; for rows, it copies one
//         unit.
// Limits: source and target, and their rows, must begin at multiples of a unit.
// Twins:  none; other runtimes' own copies are as fast.
__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_copy(__global const uint4* from,
                                                                            ulong from_first, __global uint4* to,
                                                                            ulong to_first, ulong units,
                                                                            ulong first_tile) {
  const ulong begin = (first_tile + get_group_id(0)) * (TW_GROUP * TW_FLIGHT) + get_local_id(0);
  uint4 unit[TW_FLIGHT];
  _Pragma("unroll") for (uint q = 0; q < TW_FLIGHT; ++q) {
    unit[q] = from[from_first + min(begin + q * TW_GROUP, units - 1)];
  }
  _Pragma("unroll") for (uint q = 0; q < TW_FLIGHT; ++q) {
    if (begin + q * TW_GROUP < units) to[to_first + begin + q * TW_GROUP] = unit[q];
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_copy_rows(__global const uint* from,
                                                                                 ulong from_first, ulong from_stride,
                                                                                 __global uint* to, ulong to_first,
                                                                                 ulong to_stride, ulong width,
                                                                                 ulong units, ulong first_tile) {
  const ulong unit = (first_tile + get_group_id(0)) * TW_GROUP + get_local_id(0);
  if (unit >= units) return;
  const ulong row = unit / width, column = unit % width;
  to[to_first + row * to_stride + column] = from[from_first + row * from_stride + column];
}
