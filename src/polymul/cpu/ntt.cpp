// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product by number-theoretic transforms modulo one to four primes below 2^49.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  phases: tables; columns (converts inputs to residues and computes the first levels, in tiles of columns of
//         all rows); blocks (the other levels, the products of residues, and the same levels back); columns (the last
//         levels, and the conversion of residues to integers).
// Limits: 2^31 coefficients of the product, since the primes have roots of order 2^32.
// Twins:  serial.cpp; the kernels are in ntt_kernels.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "polymul/cpu/ntt_primes.hpp"
#include "polymul/problem.hpp"
#include "registry/variant.hpp"

#include <bit>
#include <deque>

namespace tilewise::impl::polymul {

namespace {

constexpr unsigned log_most_points = 31;
constexpr unsigned log_most_rows = 4;  // rows of the first and the last pass, as in the kernels
constexpr unsigned log_alone = 12;     // transforms of up to this many points are not cut
constexpr std::uint64_t tile_elements = 4096;

/// The workspace of one product: k primes, transforms of 2^log points.
class transforms {
 public:
  transforms(primes_used primes, unsigned log, backend::cpu::queue& queue)
      : primes_(primes),
        count_(static_cast<unsigned>(primes.size())),
        log_(log),
        steps_(log <= log_alone ? 0 : std::min(log_most_rows, log - log_alone)),
        queue_(queue),
        kernels_(ntt_kernels_for(queue.level())) {
    for (unsigned k = 0; k < count_; ++k) {
      for (int operand = 0; operand < 2; ++operand) data_.emplace_back(queue, sizeof(double) << log);
      ntt_tables& t = tables_[k];
      t.field = field_of(primes_[k]);
      for (ntt_roots* roots : {&t.forward, &t.backward}) {
        roots->of_blocks = tables_memory_.emplace_back(queue, block_roots() * sizeof(double)).as<double>();
        roots->of_lanes = tables_memory_.emplace_back(queue, lane_roots() * sizeof(double)).as<double>();
      }
    }
    queue.for_each_tile(4 * count_, [&](std::uint64_t i, unsigned) { fill_table(static_cast<unsigned>(i)); });
  }

  /// Calls finish(digits, first, count) for every piece of the product of a and b.
  template <class T, class Finish>
  void multiply(const T* a, std::uint64_t n, const T* b, std::uint64_t m, std::uint64_t product, const Finish& finish) {
    const std::uint64_t columns = std::max<std::uint64_t>(tile_elements >> steps_, kernels_.lanes);
    const std::uint64_t tiles = ceil_div(stride(), columns);
    queue_.for_each_tile(2 * count_ * tiles, [&](std::uint64_t i, unsigned) {
      const std::uint64_t which = i / tiles;
      which % 2 == 0 ? read_columns(which, a, n, i % tiles * columns, columns)
                     : read_columns(which, b, m, i % tiles * columns, columns);
    });
    queue_.for_each_tile(std::uint64_t{count_} << steps_, [&](std::uint64_t i, unsigned) {
      const std::uint64_t k = i >> steps_, block = i & ((std::uint64_t{1} << steps_) - 1);
      kernels_.multiply(tables_[k], data(2 * k) + block * stride(), data(2 * k + 1) + block * stride(), log_ - steps_,
                        block);
    });
    const ntt_digits digits = digits_of(primes_, points());
    queue_.for_each_tile(tiles, [&](std::uint64_t i, unsigned) {
      write_columns(digits, i * columns, std::min(columns, stride() - i * columns), product, finish);
    });
  }

 private:
  std::uint64_t points() const { return std::uint64_t{1} << log_; }
  std::uint64_t stride() const { return points() >> steps_; }
  std::uint64_t block_roots() const { return std::max<std::uint64_t>(points() / (2 * kernels_.lanes), 16); }
  std::uint64_t lane_roots() const { return points() / kernels_.lanes; }
  double* data(std::uint64_t which) { return data_[which].as<double>(); }

  /// Tables 4 k to 4 k + 3 are those of prime k.
  void fill_table(unsigned i) {
    const auto& [p, root] = primes_[i / 4];
    ntt_tables& t = tables_[i / 4];
    const bool of_lanes = i % 2 != 0;
    const ntt_roots& roots = i % 4 < 2 ? t.forward : t.backward;
    const std::uint64_t generator = i % 4 < 2 ? root : inverse(root, p);
    double* const table = of_lanes ? roots.of_lanes : roots.of_blocks;
    const unsigned shift = of_lanes ? static_cast<unsigned>(std::countr_zero(kernels_.lanes / 2)) : 0;
    table[0] = 1;
    for (unsigned log = 0; std::uint64_t{1} << log < (of_lanes ? lane_roots() : block_roots()); ++log) {
      const std::uint64_t of_order = power(generator, std::uint64_t{1} << (log_order - log - shift - 2), p);
      kernels_.extend(t.field, table, std::uint64_t{1} << log, centred(of_order, p));
    }
  }

  template <class T>
  void read_columns(std::uint64_t which, const T* from, std::uint64_t count, std::uint64_t first,
                    std::uint64_t columns) {
    columns = std::min(columns, stride() - first);
    const ntt_tables& tables = tables_[which / 2];
    for (std::uint64_t row = 0; row < std::uint64_t{1} << steps_; ++row) {
      const std::uint64_t at = row * stride() + first, some = at < count ? std::min(columns, count - at) : 0;
      if constexpr (sizeof(T) == 4)
        kernels_.load_i32(tables.field, from + std::min(at, count), data(which) + at, some);
      else
        kernels_.load_i64(tables.field, from + std::min(at, count), data(which) + at, some);
      std::fill_n(data(which) + at + some, columns - some, 0.0);
    }
    kernels_.forward(tables, data(which) + first, stride(), columns, steps_, 0);
  }

  template <class Finish>
  void write_columns(const ntt_digits& digits, std::uint64_t first, std::uint64_t columns, std::uint64_t product,
                     const Finish& finish) {
    for (unsigned k = 0; k < count_; ++k)
      kernels_.backward(tables_[k], data(2 * k) + first, stride(), columns, steps_, 0);
    for (std::uint64_t row = 0; row < std::uint64_t{1} << steps_; ++row) {
      const std::uint64_t at = row * stride() + first;
      if (at >= product) return;
      std::array<double*, most_primes> residue{};
      for (unsigned k = 0; k < count_; ++k) residue[k] = data(2 * k) + at;
      kernels_.to_digits(digits, residue.data(), columns);
      finish(residue, at, std::min(columns, product - at));
    }
  }

  primes_used primes_;
  unsigned count_, log_, steps_;
  backend::cpu::queue& queue_;
  const ntt_kernels& kernels_;
  std::deque<backend::buffer> data_, tables_memory_;  // data: a and b of prime 0, a and b of prime 1, ...
  std::array<ntt_tables, most_primes> tables_{};
};

/// If the modulus is one of the primes, this prime: it alone gives the residues. Groups use it too.
primes_used own_prime(std::uint64_t modulus) {
  for (std::size_t k = 0; k < cpu_primes.size(); ++k)
    if (cpu_primes[k].p == modulus) return primes_used(cpu_primes).subspan(k, 1);
  return {};
}

template <class T>
void multiply(const registry::problem& p, const T* a, const T* b, std::int64_t* c, backend::cpu::queue& queue) {
  const sizes s(p);
  const std::uint64_t modulus = modulus_of(p);
  unsigned bits = product_bits(largest_magnitude(a, s.n), largest_magnitude(b, s.m), s.shorter());
  if (modulus == 0) bits = std::min(bits, 63u);  // no_overflow refuses any other
  const primes_used own = own_prime(modulus), used = own.empty() ? primes_for(bits) : own;
  const unsigned log = std::max(6u, static_cast<unsigned>(std::bit_width(s.product() - 1)));
  transforms work(used, log, queue);
  if (modulus == 0)
    work.multiply(a, s.n, b, s.m, s.product(), exact_values{c, used});
  else
    work.multiply(a, s.n, b, s.m, s.product(), modular_values{c, used, modulus});
}

/// Reduces to residues of magnitude at most modulus / 2: smaller residues need fewer primes for their products.
template <class T>
void reduce(const T* from, std::int64_t* to, std::uint64_t count, std::uint64_t modulus, backend::cpu::queue& queue) {
  queue.for_each_tile(ceil_div(count, tile_elements), [&](std::uint64_t tile, unsigned) {
    for (std::uint64_t i = tile * tile_elements; i < std::min(count, (tile + 1) * tile_elements); ++i) {
      const std::uint64_t r = residue(from[i], modulus);
      to[i] = r > modulus / 2 ? -static_cast<std::int64_t>(modulus - r) : static_cast<std::int64_t>(r);
    }
  });
}

template <class T>
void run_on(const registry::problem& p, const T* a, const T* b, std::int64_t* c, backend::cpu::queue& queue) {
  if (modulus_of(p) == 0 || !own_prime(modulus_of(p)).empty()) return multiply(p, a, b, c, queue);
  const sizes s(p);
  const backend::buffer reduced_a(queue, s.n * sizeof(std::int64_t)), reduced_b(queue, s.m * sizeof(std::int64_t));
  reduce(a, reduced_a.as<std::int64_t>(), s.n, modulus_of(p), queue);
  reduce(b, reduced_b.as<std::int64_t>(), s.m, modulus_of(p), queue);
  multiply<std::int64_t>(p, reduced_a.as<const std::int64_t>(), reduced_b.as<const std::int64_t>(), c, queue);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  if (sizes(p).product() == 0) return;
  auto& queue = static_cast<backend::cpu::queue&>(q);
  std::int64_t* const c = where.out[0].as<std::int64_t>();
  const auto [a, b] = std::array{where.in[0], where.in[1]};
  if (p.type == dtype::i32)
    run_on(p, a.as<const std::int32_t>(), b.as<const std::int32_t>(), c, queue);
  else
    run_on(p, a.as<const std::int64_t>(), b.as<const std::int64_t>(), c, queue);
}

std::string yields(const registry::problem& p, const backend::device&) {
  if (modulus_of(p) != 0) return "";  // no other variant takes a modulus
  return yields_to_definition_on_cpu(sizes(p));
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (is_range(p)) return std::string(whole_only);
  if (sizes(p).product() > std::uint64_t{1} << log_most_points)
    return "its primes have no roots for more than 2^31 coefficients";
  return "";
}

}  // namespace

registry::variant cpu_ntt_variant() {
  return {.algorithm = "polymul",
          .backend = "cpu",
          .name = "ntt",
          .types = integer_types,
          .source =
              "D. Harvey, Faster arithmetic for number-theoretic transforms (2014); J. van der Hoeven, G. Lecerf, "
              "G. Quintin, Modular SIMD arithmetic in Mathemagix (2016)",
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::polymul
