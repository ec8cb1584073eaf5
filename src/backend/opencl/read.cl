// SPDX-License-Identifier: Apache-2.0
// What:   reading the same memory again and again: the peak bandwidth of a cache or of memory.
// Order:  none; words are combined by exclusive or, which is faster than any memory.
// Shape:  one vector per work-item and step. Neighbouring items read neighbouring vectors, and another part of the
//         memory in each pass. With TW_OWN_PART, a work-item is a CPU core and reads only its own part.
// Limits: `vectors` is below 2^31.
// Twins:  cpu/read_kernels.cpp, cuda/roofs.cu.
__kernel void tw_read_again(__global const TW_VECTOR* from, __global TW_VECTOR* never, uint vectors, uint items,
                            uint passes, uint keep, ulong first_group) {
  const uint item = (uint)(first_group * get_local_size(0) + get_global_id(0));
  TW_VECTOR seen = (TW_VECTOR)(0);
  for (uint pass = 0; pass < passes; ++pass) {
#ifdef TW_OWN_PART
    const uint part = vectors / items;
    __global const TW_VECTOR* own = from + item * part;
    TW_VECTOR more = (TW_VECTOR)(pass);
    uint i = 0;
    for (; i + 4 <= part; i += 4) {
      seen ^= own[i] ^ own[i + 1];
      more += own[i + 2] ^ own[i + 3];
    }
    for (; i < part; ++i) seen ^= own[i];
    seen += more;
#else
    const uint begin = (item + pass * (items / 2 + 31 * (uint)get_local_size(0))) % vectors;
    for (uint i = 0; i < vectors; i += items) {
      const uint at = begin + i;
      seen += from[at < vectors ? at : at - vectors];
    }
#endif
  }
  // Never true, but the compiler cannot know that.
  if (keep != 0) never[item] = seen;
}
