// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product by the definition on the ranks of a group.
// Order:  a coefficient's chain is whole on one rank.
// Shape:  the product is cut into ranges that need equally many products of coefficients. A rank fetches the parts of
//         both factors that its range needs, and computes the range.
// Limits: those of the members' variants.
// Twins:  serial.cpp.
#include "divide/ranks.hpp"
#include "polymul/problem.hpp"

namespace tilewise::impl::polymul {

namespace {

using backend::group::byte_range;
using backend::group::part_of;
using backend::group::piece;
using backend::group::ranges;
using backend::group::rank_memory;
using divide::rank;

/// Where the range of rank `index` begins. If shares are then equal within a sixteenth, this is where its part of the
/// product begins: no results need to be moved.
std::uint64_t border(const sizes& s, const backend::memory& product, std::uint64_t size, unsigned index,
                     unsigned ranks) {
  const wide_integer all = s.work_below(s.product()), before = all / ranks * index + all % ranks * index / ranks;
  const std::uint64_t part = index == ranks ? s.product() : part_of(product, index).begin / size;
  const wide_integer below = s.work_below(part);
  if ((below < before ? before - below : below - before) < all / ranks / 32) return part;
  std::uint64_t first = 0, last = s.product();
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    if (s.work_below(middle) < before)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

struct range {
  std::uint64_t begin, end;

  std::uint64_t count() const { return end - begin; }
};

/// The coefficients that a range of a product needs from a factor with `count` coefficients, if the other factor has
/// `other` coefficients.
range needed(std::uint64_t count, std::uint64_t other, const range& product) {
  if (product.count() == 0) return {0, 0};
  return {product.begin < other ? 0 : product.begin - other + 1, std::min(product.end, count)};
}

byte_range bytes_of(const range& x, std::uint64_t size) { return {x.begin * size, x.end * size}; }

void multiply_range(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const sizes s(p);
  const std::uint64_t size = size_of(product_type(p.type));
  const auto begin = [&](unsigned index) { return border(s, where.out[0], size, index, r.count()); };
  const auto range_of = [&](unsigned index) { return range{begin(index), begin(index + 1)}; };
  const ranges of_a = [&](unsigned k) { return bytes_of(needed(s.n, s.m, range_of(k)), size_of(p.type)); };
  const ranges of_b = [&](unsigned k) { return bytes_of(needed(s.m, s.n, range_of(k)), size_of(p.type)); };
  const ranges of_c = [&](unsigned k) { return bytes_of(range_of(k), size); };
  const std::vector<rank_memory> factors = r.fetch(std::array{piece{where.in[0], of_a}, piece{where.in[1], of_b}});
  const rank_memory c = r.result(where.out[0], of_c(r.index()));
  const range mine = range_of(r.index()), a = needed(s.n, s.m, mine), b = needed(s.m, s.n, mine);
  registry::problem part = p;
  part.shape = {a.count(), b.count(), mine.begin - a.begin - b.begin, mine.count()};
  if (mine.count() != 0) divide::run_on_rank(r, part, {.in = {factors[0], factors[1]}, .out = {c}});
  r.deliver(where.out[0], of_c, c);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  backend::group::enter(queue).on_each_rank([&](const rank& r) { multiply_range(p, where, r); });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (is_range(p)) return std::string(whole_only);
  registry::problem range = p;
  range.shape = {sizes(p).n, sizes(p).m, 0, sizes(p).product()};
  return divide::unsupported_by_members(range, on);
}

}  // namespace

registry::variant group_naive_variant() {
  return {.algorithm = "polymul",
          .backend = "group",
          .name = "naive",
          .types = coefficient_types,
          .source = "the definition, each rank a range of the product",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::polymul
