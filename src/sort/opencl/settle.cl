// SPDX-License-Identifier: Apache-2.0
// What:   the last step of sort/opencl:onesweep where it sorts by a plan: keys that share all sorted digits are put in
//         order.
// Order:  stable; equal codes stay as they are.
// Shape:  such keys lie side by side, in the order of the input. The item that sees the first ones sorts them by
//         insertion. Others look at the keys meanwhile, but only at what no move changes.
// Limits: keys of 8 bytes; runs of a few of them: longer ones set TW_AGAIN, and then all digits must be sorted.
// Twins:  cuda/radix_plan.cuh; embedded after program.cl. onesweep.cl writes the plan.
#define TW_FROM_DIGIT 1  // of the words of `plan`, as in onesweep.cl
#define TW_AGAIN 2
#define TW_MOST_ALIKE 16
#define TW_LOOKS 4  // pairs in flight

// Where a plain access of 8 bytes is one access, it is enough for keys that others look at.
#ifdef __NV_CL_C_VERSION
#define TW_KEY(at) (*(at))
#define TW_PUT_KEY(at, key) *(at) = (key)
#else
#define TW_KEY(at) atom_add((tw_words)(at), 0ul)
#define TW_PUT_KEY(at, key) atom_xchg((tw_words)(at), key)
#endif

static inline bool tw_alike(tw_key a, tw_key b, tw_code code, uint shift) {
  return (tw_encode(a, code) ^ tw_encode(b, code)) >> shift == 0;
}

static inline void tw_insert(__global tw_key* keys, __global tw_value* values, uint count, tw_code code) {
  for (uint j = 1; j < count; ++j) {
    const tw_key key = TW_KEY(keys + j), encoded = tw_encode(key, code);
    uint hole = j;
    while (hole > 0 && tw_encode(TW_KEY(keys + hole - 1), code) > encoded) --hole;
#if TW_VALUE_BYTES
    const tw_value value = values[j];
    for (uint k = j; k > hole; --k) values[k] = values[k - 1];
    values[hole] = value;
#endif
    for (uint k = j; k > hole; --k) TW_PUT_KEY(keys + k, TW_KEY(keys + k - 1));
    TW_PUT_KEY(keys + hole, key);
  }
}

__kernel __attribute__((reqd_work_group_size(TW_GROUP, 1, 1))) void tw_settle(__global tw_key* keys, ulong first_key,
                                                                              __global tw_value* values,
                                                                              ulong first_value, ulong count,
                                                                              TW_CODE_WORDS, __global uint* plan,
                                                                              ulong first_tile) {
  const uint shift = 8 * plan[TW_FROM_DIGIT];
  if (shift == 0) return;
  const tw_code code = TW_CODE;
  __global tw_key* all = keys + first_key;
  const ulong step = TW_LOOKS * TW_GROUP;
  for (ulong begin = get_group_id(0) * step; begin < count; begin += get_num_groups(0) * step) {
    tw_key here[TW_LOOKS], next[TW_LOOKS];
    _Pragma("unroll") for (uint r = 0; r < TW_LOOKS; ++r) {
      const ulong i = min(begin + TW_STRIPED(r), count - 1);
      here[r] = TW_KEY(all + i);
      next[r] = TW_KEY(all + min(i + 1, count - 1));
    }
    _Pragma("unroll") for (uint r = 0; r < TW_LOOKS; ++r) {
      const ulong i = begin + TW_STRIPED(r);
      if (!tw_alike(here[r], next[r], code, shift) || i + 1 >= count) continue;
      if (i != 0 && tw_alike(TW_KEY(all + i - 1), here[r], code, shift)) continue;
      uint alike = 2;
      while (i + alike < count && alike <= TW_MOST_ALIKE && tw_alike(TW_KEY(all + i + alike), here[r], code, shift))
        ++alike;
      if (alike > TW_MOST_ALIKE)
        atomic_or(plan + TW_AGAIN, 1);
      else
        tw_insert(all + i, values + first_value + i, alike, code);
    }
  }
}
