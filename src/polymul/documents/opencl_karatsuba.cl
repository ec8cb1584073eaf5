// SPDX-License-Identifier: Apache-2.0
// What:   polymul/opencl:karatsuba: what comes before and after the products of the leaves, which opencl/tiles.cl
//         makes. A factor x is x0 + x1 z^h; the product's parts are a0 b0, a1 b1 and (a0 + a1) (b0 + b1).
// Order:  none: integers modulo 2^64, exact in any order.
// Shape:  one item per element. Children of node p are 3 p, the lower halves, 3 p + 1, the upper ones, and 3 p + 2.
// Limits: factors are as long as the longer one, up to a multiple of 2^depth.
// Twins:  serial.cpp.

// Leaf p of the tree of a factor: the base-3 digits of p, the last one first, are the path from the leaf up; at each
// the element comes from the lower half, the upper half or both. So it is a sum over the subsets of the 2s.
__kernel void tw_split(__global const TW_T* x, ulong x_first, ulong count, ulong leaf, uint depth,
                       __global ulong* leaves, ulong leaves_first, ulong all, ulong first_tile) {
  const ulong at = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0);
  if (at >= all) return;
  uint upper = 0, both = 0;  // one bit per level, the leaves' the lowest
  ulong way = at / leaf;
  for (uint level = 0; level < depth; ++level, way /= 3) {
    upper |= (way % 3 == 1 ? 1u : 0u) << level;
    both |= (way % 3 == 2 ? 1u : 0u) << level;
  }
  ulong sum = 0;
  uint subset = both;
  for (bool more = true; more; subset = (subset - 1) & both) {
    const ulong i = (upper | subset) * leaf + at % leaf;
    sum += i < count ? (ulong)tw_signed(x[x_first + i]) : 0;
    more = subset != 0;
  }
  leaves[leaves_first + at] = sum;
}

// Element i of a product of factors of this length. Products lie 2 length apart, so the last element belongs to none.
static inline ulong tw_element(__global const ulong* product, ulong i, ulong length) {
  return i < 2 * length - 1 ? product[i] : 0;
}

// The first `all` elements of the nodes of a level, 4 length each, from their children's.
__kernel void tw_combine(__global const ulong* children, ulong children_first, ulong length, __global ulong* nodes,
                         ulong nodes_first, ulong all, ulong first_tile) {
  const ulong at = (first_tile + get_group_id(0)) * get_local_size(0) + get_local_id(0);
  if (at >= all) return;
  const ulong i = at % (4 * length);
  __global const ulong* low = children + children_first + at / (4 * length) * 6 * length;
  __global const ulong *high = low + 2 * length, *mixed = high + 2 * length;
  // i - length and i - 2 length wrap far beyond where they would be negative.
  nodes[nodes_first + at] = tw_element(low, i, length) + tw_element(high, i - 2 * length, length) +
                            tw_element(mixed, i - length, length) - tw_element(low, i - length, length) -
                            tw_element(high, i - length, length);
}
