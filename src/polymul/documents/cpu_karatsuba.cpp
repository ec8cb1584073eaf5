// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product by Karatsuba's method: three products of half the length.
// Order:  none: exact modulo 2^64, so exact where the product fits.
// Shape:  the longer factor is cut into pieces of the shorter's length. Up to three levels of each piece's recursion
//         are split into 3, 9 or 27 products, which run in parallel, each on one thread without an allocation, and are
//         then joined.
// Limits: no modulus, no floats.
// Twins:  serial.cpp; the kernels are in cpu_karatsuba_kernels.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "polymul/cpu/naive_kernels.hpp"
#include "polymul/documents/cpu_karatsuba_kernels.hpp"
#include "polymul/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

namespace {

using u64 = std::uint64_t;

constexpr std::array<unsigned, 4> leaf_lengths{32, 64, 128, 256};
constexpr std::array<registry::tuning_axis, 1> axes{{{"leaf", leaf_lengths, 128}}};
constexpr unsigned most_split_levels = 3;
constexpr u64 least_split_length = 1024;  // below this, starting the products takes as long as they do

constexpr u64 power_of_three(unsigned exponent) { return exponent == 0 ? 1 : 3 * power_of_three(exponent - 1); }

/// Multiplies factors of the same length, which is that of a leaf times a power of two.
class karatsuba {
 public:
  karatsuba(u64 shorter, u64 leaf, backend::cpu::queue& queue)
      : leaf_(leaf),
        length_(padded(shorter, leaf)),
        queue_(queue),
        kernels_(karatsuba_kernels_for(queue.level())),
        levels_(split_levels()),
        slot_(6 * part() + leaf + 2 * naive_margin),
        workspace_(queue, queue.threads() * slot_ * sizeof(u64)),
        products_(queue, 2 * part() * level_first(levels_ + 1) * sizeof(u64)) {
    for (unsigned worker = 0; worker < queue.threads(); ++worker)
      std::fill_n(between_zeros(worker), leaf + 2 * naive_margin, u64{0});
  }

  u64 length() const { return length_; }

  /// Returns the 2 length coefficients of a b, the last of them 0. They are valid until the next call.
  const u64* multiply(const u64* a, const u64* b) {
    queue_.for_each_tile(power_of_three(levels_), [&](u64 task, unsigned worker) {
      u64* const mine = workspace_.as<u64>() + worker * slot_;
      u64 *const a_part = mine, *const b_part = mine + part(), *const scratch = mine + 2 * part();
      sum_parts(a, task, a_part);
      sum_parts(b, task, b_part);
      const auto leaf_product = naive_kernels_for<u64>(queue_.level()).multiply;
      kernels_.multiply(a_part, b_part, product(levels_, task), part(), scratch,
                        {leaf_product, between_zeros(worker), leaf_});
    });
    for (unsigned level = levels_; level-- != 0;)
      queue_.for_each_tile(power_of_three(level), [&](u64 node, unsigned) {
        kernels_.join(product(level + 1, 3 * node), product(level + 1, 3 * node + 1), product(level + 1, 3 * node + 2),
                      product(level, node), length_ >> level);
      });
    return product(0, 0);
  }

 private:
  static u64 padded(u64 shorter, u64 leaf) {
    unsigned halvings = 0;
    while (((shorter - 1) >> halvings) + 1 > leaf) ++halvings;
    return (((shorter - 1) >> halvings) + 1) << halvings;
  }
  unsigned split_levels() const {
    unsigned levels = 0;
    while (levels < most_split_levels && length_ >> levels >= std::max(least_split_length, 2 * leaf_)) ++levels;
    return queue_.threads() == 1 ? 0 : levels;
  }
  u64 part() const { return length_ >> levels_; }
  u64* between_zeros(unsigned worker) { return workspace_.as<u64>() + worker * slot_ + 6 * part(); }

  /// Where the products of a level begin. The levels follow each other; each takes 3/2 of the room of the one before.
  u64 level_first(unsigned level) const {
    u64 first = 0;  // in units of a product of the last level
    for (unsigned l = 0; l < level; ++l) first += power_of_three(l) << (levels_ - l);
    return first;
  }
  u64* product(unsigned level, u64 node) {
    return products_.as<u64>() + 2 * part() * (level_first(level) + (node << (levels_ - level)));
  }

  /// The digits of `task` in base 3 choose for each level: the low half, the high half, or their sum.
  void sum_parts(const u64* x, u64 task, u64* sum) const {
    std::fill_n(sum, part(), u64{0});
    for (u64 piece = 0; piece < u64{1} << levels_; ++piece)
      if (belongs(piece, task)) kernels_.add(x + piece * part(), sum, part());
  }
  bool belongs(u64 piece, u64 task) const {
    for (unsigned level = 0; level < levels_; ++level, piece /= 2, task /= 3)
      if (task % 3 != 2 && task % 3 != piece % 2) return false;
    return true;
  }

  u64 leaf_, length_;
  backend::cpu::queue& queue_;
  const karatsuba_kernels& kernels_;
  unsigned levels_;
  u64 slot_;
  backend::buffer workspace_, products_;
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [leaf] = t.of(axes);
  const sizes s(p);
  if (s.product() == 0) return;
  auto& queue = static_cast<backend::cpu::queue&>(q);
  karatsuba multiplier(s.shorter(), leaf, queue);
  const u64 length = multiplier.length(), longer = std::max(s.n, s.m), pieces = ceil_div(longer, length);
  const backend::buffer long_factor(queue, pieces * length * sizeof(u64)), short_factor(queue, length * sizeof(u64));
  with_coefficients(p.type, [&]<class T>(T) {
    const bool swapped = s.n < s.m;
    widen(where.in[swapped ? 1 : 0].as<const T>(), longer, long_factor.as<u64>(), pieces * length);
    widen(where.in[swapped ? 0 : 1].as<const T>(), s.shorter(), short_factor.as<u64>(), length);
  });
  u64* const c = where.out[0].as<u64>();
  std::fill_n(c, s.product(), u64{0});
  for (u64 first = 0; first < longer; first += length)
    karatsuba_kernels_for(queue.level())
        .add(multiplier.multiply(long_factor.as<u64>() + first, short_factor.as<u64>()), c + first,
             std::min(2 * length, s.product() - first));
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (is_range(p)) return std::string(whole_only);
  return modulus_of(p) == 0 ? "" : "it computes modulo 2^64 only";
}

}  // namespace

registry::variant cpu_karatsuba_variant() {
  return {.algorithm = "polymul",
          .backend = "cpu",
          .name = "karatsuba",
          .types = integer_types,
          .source =
              "A. Karatsuba and Yu. Ofman, Multiplication of many-digital numbers by automatic computers (1962); "
              "Knuth, TAOCP 2, 4.3.3",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::polymul
