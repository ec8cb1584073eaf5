// SPDX-License-Identifier: Apache-2.0
// What:   a copy within a device's memory, by units of 16 bytes.
// Order:  none; only data moves.
// Shape:  an item has TW_FLIGHT units, whose loads are under way before the first is stored.
// Limits: both places begin at a multiple of 16 bytes.
// Twins:  none; other runtimes copy as fast themselves.
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
