// SPDX-License-Identifier: Apache-2.0
// What:   polymul/opencl:ntt: how ntt.cl is launched.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  tables of roots; the first columns; for long products the next ones; rows; and columns back.
// Limits: 43 KB of local memory; 2^27 coefficients of the product, 2^26 with six primes.
// Twins:  cuda/ntt.cu.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "polymul/gpu_ntt.hpp"
#include "registry/variant.hpp"

namespace tilewise::embedded {
extern const std::string_view polymul_ntt_cl;
}

namespace tilewise::impl::polymul {

namespace {

// The same numbers as in ntt.cl.
constexpr unsigned group_size = 256;
constexpr std::uint64_t row_local_bytes =
    4 * group_size * sizeof(word_factor) + 2 * 17 * group_size * sizeof(std::uint32_t);

std::uint64_t data_bytes(const ntt_plan& plan) { return 2 * plan.values() * sizeof(std::uint32_t); }

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  const sizes s(p);
  if (s.product() == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const ntt_plan plan(p);
  const std::uint64_t modulus = modulus_of(p);
  auto& program = queue.program(embedded::polymul_ntt_cl, backend::opencl::definitions_of(p.type, op::sum) +
                                                              (modulus == 0 ? "" : " -DTW_MODULAR=1") +
                                                              " -DTW_FIELDS=" + std::to_string(plan.fields));
  const auto launch = [&](const char* kernel, std::uint64_t groups, const auto&... arguments) {
    queue.launch_tiles(program.kernel(kernel), groups, group_size, arguments...);
  };
  const backend::memory fields = queue.constants("polymul ntt fields", sizeof(word_fields), [&](backend::memory to) {
    queue.upload(to, &all_word_fields(), sizeof(word_fields));
  });
  const backend::memory roots =
      queue.constants("polymul ntt roots", table_words * sizeof(std::uint32_t),
                      [&](backend::memory to) { launch("tw_fill_tables", table_words / group_size, fields, to); });
  const backend::buffer workspace(queue, data_bytes(plan));
  const backend::memory data = workspace;
  const auto first = [](const backend::memory& m, dtype type) { return m.offset / size_of(type); };
  const std::uint64_t tiles = plan.points() >> log_tile, inner_stride = plan.points() >> (2 * log_column_levels);
  const bool twice = plan.log > log_column_levels + log_tile;
  const unsigned done = (twice ? 2 : 1) * log_column_levels - (plan.log - log_tile);
  launch("tw_first_columns", 2 * plan.fields * tiles, fields, roots, plan.log, data, where.in[0],
         first(where.in[0], p.type), s.n, where.in[1], first(where.in[1], p.type), s.m, modulus);
  if (twice) launch("tw_columns_down_again", 2 * plan.fields * tiles, fields, roots, plan.log, data, inner_stride);
  launch("tw_multiply_rows", plan.fields * tiles, fields, roots, plan.log, data, done);
  if (twice) launch("tw_columns_up_again", plan.fields * tiles, fields, roots, plan.log, data, inner_stride);
  launch("tw_last_columns", tiles, fields, roots, plan.log, data, where.out[0], first(where.out[0], dtype::i64),
         s.product(), modulus, backend::opencl::struct_value{&plan.sums, sizeof plan.sums});
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (std::string why = without_plan(p); !why.empty()) return why;
  const std::uint64_t most = on.info().max_allocation, needed = data_bytes(ntt_plan(p));
  if (most != 0 && needed > most)
    return "its workspace of " + std::to_string(needed) + " bytes is more than " + on.info().name +
           " can allocate at once, " + std::to_string(most) + " bytes";
  return backend::opencl::too_large(on.info(), group_size, row_local_bytes);
}

/// Measured with PoCL on two cores, and on an H200 (results/h200/polymul.jsonl.gz).
std::string yields(const registry::problem& p, const backend::device& on) {
  if (modulus_of(p) != 0) return yields_to_definition(p, {on.info().is_cpu ? 1u << 21 : 1u << 17, 16});
  return yields_to_definition(p, {on.info().is_cpu ? 1u << 25 : 1u << 21, 64});
}

}  // namespace

registry::variant opencl_ntt_variant() {
  return {.algorithm = "polymul",
          .backend = "opencl",
          .name = "ntt",
          .types = integer_types,
          .source =
              "D. Harvey, Faster arithmetic for number-theoretic transforms (2014); D. H. Bailey, FFTs in external or "
              "hierarchical memory (1990)",
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::polymul
