// SPDX-License-Identifier: Apache-2.0
// What:   reduce/opencl:doubling: the sum of each group's elements by recursive doubling, one element an item.
// Order:  its own: at step k item m 2^k - 1 adds what lies 2^(k-1) before it, with identities beyond the end.
// Shape:  groups of a power of two; log2 of that many steps, with a barrier before each.
// Limits: local memory for one element an item.
// Twins:  serial.cpp.
__kernel void tw_doubling(__global const TW_T* in, ulong in_first, ulong count, __global TW_T* sums, ulong sums_first,
                          __local TW_T* partial, ulong first_tile) {
  const uint me = get_local_id(0), items = get_local_size(0);
  const ulong tile = first_tile + get_group_id(0), at = tile * items + me;
  partial[me] = at < count ? in[in_first + at] : TW_IDENTITY;
  for (uint distance = 1; distance < items; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the step before is complete
    if ((me + 1) % (2 * distance) == 0) partial[me] = tw_apply(partial[me - distance], partial[me]);
  }
  if (me == items - 1) sums[sums_first + tile] = tw_canonical(partial[me]);
}
