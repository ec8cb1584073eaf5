// SPDX-License-Identifier: Apache-2.0
// What:   polymul/cuda:karatsuba: a factor x is x0 + x1 z^h; the product's parts are a0 b0, a1 b1 and
//         (a0 + a1) (b0 + b1). The leaves of the tree of such products are multiplied by polymul/cuda:tiles.
// Order:  none: integers modulo 2^64, exact in any order.
// Shape:  one launch takes both factors to all leaves, one multiplies these, one per level joins them; one thread per
//         element. Children of node p are 3 p, the lower halves, 3 p + 1, the upper ones, and 3 p + 2.
// Limits: no modulus, no floats. Factors are as long as the longer one, up to a multiple of 2^depth.
// Twins:  serial.cpp, opencl_karatsuba.cl.
#include "polymul/cuda/shared.cuh"
#include "polymul/documents/karatsuba.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

namespace {

using registry::problem;
using registry::tuning;

constexpr unsigned group_size = 256;

__device__ std::uint64_t own_index() { return std::uint64_t{blockIdx.x} * group_size + threadIdx.x; }

/// Leaf p of the tree of a factor: the base-3 digits of p, the last one first, are the path from the leaf up; at each
/// the element comes from the lower half, the upper half or both. So it is a sum over the subsets of the 2s.
template <class T>
__global__ void split(const operands<T> o, std::uint64_t leaf, unsigned depth, std::uint64_t* leaves,
                      std::uint64_t all) {
  const std::uint64_t at = own_index();
  if (at >= all) return;
  const T* const x = blockIdx.y == 0 ? o.a : o.b;
  const std::uint64_t count = blockIdx.y == 0 ? o.n : o.m;
  unsigned upper = 0, both = 0;  // one bit per level, the leaves' the lowest
  std::uint64_t way = at / leaf;
  for (unsigned level = 0; level < depth; ++level, way /= 3) {
    upper |= (way % 3 == 1 ? 1u : 0u) << level;
    both |= (way % 3 == 2 ? 1u : 0u) << level;
  }
  std::uint64_t sum = 0;
  unsigned subset = both;
  for (bool more = true; more; subset = (subset - 1) & both) {
    const std::uint64_t i = (upper | subset) * leaf + at % leaf;
    sum += i < count ? static_cast<std::uint64_t>(std::int64_t{x[i]}) : 0;
    more = subset != 0;
  }
  leaves[blockIdx.y * all + at] = sum;
}

/// Element i of a product of factors of this length. Products lie 2 length apart, so the last element belongs to none.
__device__ std::uint64_t element(const std::uint64_t* product, std::uint64_t i, std::uint64_t length) {
  return i < 2 * length - 1 ? product[i] : 0;
}

/// The first `all` elements of the nodes of a level, 4 length each, from their children's.
__global__ void combine(const std::uint64_t* children, std::uint64_t length, std::uint64_t* nodes, std::uint64_t all) {
  const std::uint64_t at = own_index();
  if (at >= all) return;
  const std::uint64_t i = at % (4 * length);
  const std::uint64_t* const low = children + at / (4 * length) * 6 * length;
  const std::uint64_t *const high = low + 2 * length, *const mixed = high + 2 * length;
  // i - length and i - 2 length wrap far beyond where they would be negative.
  nodes[at] = element(low, i, length) + element(high, i - 2 * length, length) + element(mixed, i - length, length) -
              element(low, i - length, length) - element(high, i - length, length);
}

/// Level by level, alternating between the two halves of the workspace, the root into the result.
void combine_levels(const karatsuba_tree& tree, std::uint64_t* children, std::uint64_t* nodes, std::uint64_t* result,
                    std::uint64_t total, cudaStream_t stream) {
  std::uint64_t length = tree.leaf, count = tree.leaves / 3;
  for (; count > 1; count /= 3, length *= 2) {
    const std::uint64_t all = count * 4 * length;
    combine<<<groups_for(all, group_size), group_size, 0, stream>>>(children, length, nodes, all);
    TW_CUDA(cudaGetLastError());
    std::swap(children, nodes);
  }
  combine<<<groups_for(total, group_size), group_size, 0, stream>>>(children, length, result, total);
}

template <class T>
void multiply(const problem& p, const registry::bindings& where, const karatsuba_tree& tree, backend::cuda::queue& q) {
  const operands<T> o(p, where);
  const std::uint64_t elements = tree.leaves * tree.leaf;  // of one factor's leaves
  const backend::buffer workspace(q, tree.workspace_bytes());
  const backend::memory room = workspace;
  const dim3 groups(groups_for(elements, group_size), 2);
  split<<<groups, group_size, 0, q.stream()>>>(o, tree.leaf, tree.depth, room.as<std::uint64_t>(), elements);
  TW_CUDA(cudaGetLastError());
  registry::bindings leaves;
  for (unsigned i = 0; i < 2; ++i) leaves.in[i] = room.at(i * tree.factor_bytes(), tree.factor_bytes());
  leaves.out[0] = room.at(2 * tree.factor_bytes(), 2 * tree.factor_bytes());
  multiply_by_tiles(leaf_problem(p, tree), leaves, static_cast<unsigned>(tree.leaves), q);
  combine_levels(tree, leaves.out[0].as<std::uint64_t>(), room.as<std::uint64_t>(),
                 reinterpret_cast<std::uint64_t*>(o.c), o.length, q.stream());
  TW_CUDA(cudaGetLastError());
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  if (sizes(p).product() == 0) return;
  auto& q = backend::cuda::enter(on);
  const karatsuba_tree tree(sizes(p), t);
  if (tree.depth == 0) return multiply_by_tiles(p, where, 1, q);
  if (p.type == dtype::i32)
    multiply<std::int32_t>(p, where, tree, q);
  else
    multiply<std::int64_t>(p, where, tree, q);
}

std::string unsupported(const problem& p, const backend::device&, const tuning& t) {
  if (is_range(p)) return std::string(whole_only);
  if (modulus_of(p) != 0) return "it computes modulo 2^64 only";
  return backend::cuda::too_many_groups(ceil_div(karatsuba_tree(sizes(p), t).workspace_bytes(), group_size));
}

}  // namespace

registry::variant cuda_karatsuba_variant() {
  return {.algorithm = "polymul",
          .backend = "cuda",
          .name = "karatsuba",
          .types = integer_types,
          .source = "A. Karatsuba and Yu. Ofman, Multiplication of many-digital numbers by automatic computers (1962)",
          .tuning = karatsuba_axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::polymul
