// What:   polynomial product by number-theoretic transforms modulo three or six primes below 2^30.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  columns: 256 rows of a block, 16 columns per group, through 8 levels; first from the factors' coefficients to
//         residues. Rows: tiles of 4096 neighbours through the other levels, the products of leaves, and back.
//         Columns again; the last ones combine the residues of a coefficient. No element changes its place.
// Limits: 2^27 coefficients of the product, 2^26 with six primes.
// Twins:  polymul_ntt.cl, polymul_cpu_ntt.cpp.
#include "polymul/polymul_cuda.cuh"
#include "polymul/polymul_cuda.hpp"
#include "polymul/polymul_cuda_ntt_columns.cuh"
#include "polymul/polymul_cuda_ntt_rows.cuh"

namespace tilewise::impl::polymul {

namespace {

using namespace backend::cuda;

/// Part (field, direction, table) of the tables of roots.
__global__ void __launch_bounds__(group_size) fill_tables(const __grid_constant__ word_fields fields, word* tables) {
  const unsigned at = blockIdx.x * group_size + threadIdx.x, entry = at % table_size, part = at / table_size;
  const unsigned high = part % 2, backward = part / 2 % 2;
  const word_field& f = fields.at[part / 4];
  word form = f.radix.value;  // of 1
  for (unsigned bit = 0; entry >> bit != 0; ++bit)
    if ((entry >> bit & 1) != 0)
      form = lower(montgomery(std::uint64_t{form} * f.of_bit[backward][bit + high * log_table], f), f.p);
  tables[at] = form;
}

const word* tables_of(queue& q) {
  const auto fill = [&](const backend::memory& to) {
    fill_tables<<<table_words / group_size, group_size, 0, q.stream()>>>(all_word_fields(), to.as<word>());
    TW_CUDA(cudaGetLastError());  // before the queue keeps what is not filled
  };
  return q.constants("polymul ntt roots", table_words * sizeof(word), fill).as<const word>();
}

template <unsigned LogNear>
void enqueue_rows(const ntt_work& work, unsigned done_by_columns, cudaStream_t stream) {
  constexpr unsigned log_row_tile = 2 * log_rows + LogNear, bytes = sizeof(row_memory<LogNear>);
  TW_CUDA(cudaFuncSetAttribute(multiply_rows<LogNear>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const dim3 groups(1u << (work.log - log_row_tile), work.used);
  multiply_rows<LogNear><<<groups, group_size, bytes, stream>>>(work, done_by_columns - (work.log - log_row_tile));
}

template <class T, bool Modular>
void enqueue(const ntt_plan& plan, const operands<T>& on, std::uint64_t modulus, queue& q) {
  const backend::buffer residues(q, 2 * plan.values() * sizeof(word));
  const ntt_work work{all_word_fields(), plan.log, plan.fields, tables_of(q), residues.as<word>()};
  const unsigned tiles = 1u << (plan.log - log_tile), inner_stride = 1u << plan.log >> (2 * log_column_levels);
  const dim3 both(tiles, plan.fields, 2), one(tiles, plan.fields);
  const cudaStream_t stream = q.stream();
  first_columns<T, Modular><<<both, group_size, 0, stream>>>(work, on, modulus);
  if (plan.log <= log_column_levels + log_tile) {
    enqueue_rows<log_rows>(work, log_column_levels, stream);
  } else if (plan.log == log_column_levels + log_tile + 1) {
    enqueue_rows<log_rows + 1>(work, log_column_levels, stream);  // larger tiles save the second columns
  } else {
    inner_columns<true><<<both, group_size, 0, stream>>>(work, inner_stride);
    enqueue_rows<log_rows>(work, 2 * log_column_levels, stream);
    inner_columns<false><<<one, group_size, 0, stream>>>(work, inner_stride);
  }
  auto last = last_columns<few_words, Modular>;
  if constexpr (Modular)
    if (plan.fields == most_words) last = last_columns<most_words, true>;
  last<<<tiles, group_size, 0, stream>>>(work, plan.sums, modulus, on.c, on.length);
  TW_CUDA(cudaGetLastError());
}

template <class T>
void multiply(const registry::problem& p, const registry::bindings& where, queue& q) {
  const operands<T> on(p, where);
  if (const std::uint64_t modulus = modulus_of(p); modulus != 0)
    enqueue<T, true>(ntt_plan(p), on, modulus, q);
  else
    enqueue<T, false>(ntt_plan(p), on, modulus, q);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  if (sizes(p).product() == 0) return;
  if (p.type == dtype::i32)
    multiply<std::int32_t>(p, where, enter(q));
  else
    multiply<std::int64_t>(p, where, enter(q));
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return without_plan(p);
}

/// On an H200 (results/h200/polymul.jsonl).
std::string yields(const registry::problem& p, const backend::device&) {
  if (modulus_of(p) != 0) return yields_to_definition(p, {1 << 15, 16});
  return yields_to_definition(p, p.type == dtype::i32 ? ntt_cut_off{1 << 25, 256} : ntt_cut_off{1 << 24, 128});
}

}  // namespace

registry::variant cuda_ntt_variant() {
  return {.algorithm = "polymul",
          .backend = "cuda",
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
