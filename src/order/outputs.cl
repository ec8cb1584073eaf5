// SPDX-License-Identifier: Apache-2.0
// What:   a scan's outputs of a run of elements, which one item has in its registers.
// Order:  a run is an aligned block; its outputs descend from P at its begin (block_tree.cl). Inclusive output i is
//         P(i+1), so the last one is P at the run's end, which the caller gives.
// Twins:  embedded after operators.cl and block_tree.cl.

// What is output; the hosts have the same numbers.
#define TW_INCLUSIVE 1  // out[i] = P(i+1), else P(i)
#define TW_SPINE 2      // the elements are blocks' values: NaNs stay as they are, and init is not applied

static inline TW_T tw_output(TW_T prefix, TW_T next, TW_T init, uint mode) {
  const TW_T chosen = mode & TW_INCLUSIVE ? next : prefix;
  return mode & TW_SPINE ? chosen : tw_canonical(tw_apply(init, chosen));
}

// Defines NAME: the outputs of a run of LENGTH elements in place of its tree, from P at its begin and at its end.
#define TW_DEFINE_OUTPUTS(NAME, DOWN, LENGTH)                                                             \
  static inline void NAME(TW_T* mine, TW_T before, TW_T after, TW_T init, uint mode) {                    \
    DOWN(mine, before);                                                                                   \
    _Pragma("unroll") for (uint i = 0; i < (LENGTH); ++i) {                                               \
      mine[i] = tw_output(mine[i], i + 1 < (LENGTH) ? mine[min(i + 1, (LENGTH)-1u)] : after, init, mode); \
    }                                                                                                     \
  }
