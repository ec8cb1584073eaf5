// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product by number-theoretic transforms modulo three or six primes below 2^30, or two where the
//         coefficients turn out to be small.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  columns: 256 rows of a block, 16 columns per group, through 8 levels; first from the factors' coefficients to
//         residues. Rows: tiles of 4096 neighbours through the other levels, the products of leaves, and back.
//         Columns again; the last ones combine the residues of a coefficient. No element changes its place.
// Limits: 2^27 coefficients of the product, 2^26 with six primes.
// Twins:  opencl/ntt.cl, cpu/ntt.cpp.
#include "backend/cuda/queue.hpp"
#include "polymul/cuda/ntt_blocks.cuh"
#include "polymul/cuda/ntt_columns.cuh"
#include "polymul/cuda/ntt_rows.cuh"
#include "polymul/cuda/shared.cuh"
#include "registry/variant.hpp"

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
void enqueue_rows(const ntt_work& work, levels_elsewhere columns_do, unsigned block, cudaStream_t stream) {
  constexpr unsigned log_row_tile = 2 * log_rows + LogNear, bytes = sizeof(row_memory<LogNear>);
  TW_CUDA(cudaFuncSetAttribute(multiply_rows<LogNear>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const unsigned log_tiles = work.log - log_row_tile;
  const levels_elsewhere of_tile{columns_do.down - log_tiles, columns_do.up - log_tiles};
  const dim3 groups(1u << log_tiles, work.used);
  multiply_rows<LogNear><<<groups, group_size, bytes, stream>>>(work, of_tile, block << log_tiles);
  TW_CUDA(cudaGetLastError());
}

/// What lies between the first columns, which have done eight levels of block `block` of 2^log_blocks, and the last
/// ones, which do eight of the whole tree.
void enqueue_inner(const ntt_work& work, unsigned log_blocks, unsigned block, cudaStream_t stream) {
  constexpr unsigned log_rows_alone = log_column_levels + log_tile;
  const unsigned log_whole = work.log + log_blocks, later = log_column_levels - log_blocks;
  // Larger tiles save the second columns.
  const bool is_larger = log_whole == log_rows_alone + 1 || work.log == log_rows_alone + 1;
  const bool is_down = !is_larger && work.log > log_rows_alone, is_up = log_whole > log_rows_alone + 1;
  const dim3 both((1u << work.log) / wide_columns::points, work.used, 2), one(both.x, both.y);
  if (is_down) {
    inner_columns<true>
        <<<both, group_size, 0, stream>>>(work, 1u << work.log >> (2 * log_column_levels), block << log_column_levels);
    TW_CUDA(cudaGetLastError());
  }
  const levels_elsewhere by_columns{is_down ? 2 * log_column_levels : log_column_levels,
                                    is_up ? later + log_column_levels : later};
  if (is_larger)
    enqueue_rows<log_rows + 1>(work, by_columns, block, stream);
  else
    enqueue_rows<log_rows>(work, by_columns, block, stream);
  if (is_up) {
    inner_columns<false>
        <<<one, group_size, 0, stream>>>(work, 1u << work.log >> (later + log_column_levels), block << later);
    TW_CUDA(cudaGetLastError());
  }
}

template <bool Modular, class Product>
void enqueue_last(const ntt_work& work, const ntt_plan& plan, std::uint64_t modulus, const Product& product,
                  unsigned tiles, cudaStream_t stream) {
  if constexpr (!Modular)
    if (work.magnitudes.largest != nullptr) {
      last_columns<least_words, false, Product>
          <<<tiles, group_size, 0, stream>>>(work, sums_of(plan.log, least_words, 0), 0, product);
      TW_CUDA(cudaGetLastError());
    }
  auto last = last_columns<few_words, Modular, Product>;
  if constexpr (Modular)
    if (plan.fields == most_words) last = last_columns<most_words, true, Product>;
  last<<<tiles, group_size, 0, stream>>>(work, plan.sums, modulus, product);
  TW_CUDA(cudaGetLastError());
}

/// From as many points on, wide columns are the faster ones on an H200.
constexpr unsigned log_least_wide = 22;

/// Shorter products, which take few microseconds, do not ask whether their coefficients are small.
constexpr unsigned log_least_asked = 22;
constexpr unsigned groups_that_read = 512;

template <class T, bool Modular>
void enqueue(const ntt_plan& plan, const operands<T>& on, std::uint64_t modulus, queue& q) {
  const bool asks = plan.fields == few_words && !Modular && plan.log >= log_least_asked;
  const backend::buffer residues(q, 2 * plan.values() * sizeof(word)),
      largest(q, asks ? 2 * sizeof(unsigned long long) : 0);
  ntt_work work{all_word_fields(), plan.log, plan.fields, tables_of(q), residues.as<word>()};
  const unsigned tiles = 1u << (plan.log - log_tile);
  if (asks) {
    work.magnitudes = {largest.as<unsigned long long>(), most_of_least_words / std::min(on.n, on.m)};
    TW_CUDA(cudaMemsetAsync(work.magnitudes.largest, 0, 2 * sizeof(unsigned long long), q.stream()));
    find_magnitudes<T><<<dim3(groups_that_read, 2), group_size, 0, q.stream()>>>(on, work.magnitudes.largest);
    TW_CUDA(cudaGetLastError());
  }
  const auto enqueue_first = [&]<class Shape>(Shape) {
    const dim3 groups(plan.fields, static_cast<unsigned>(plan.points() / Shape::points), 2);
    first_columns<Shape, T, Modular><<<groups, group_size, 0, q.stream()>>>(work, on, modulus);
    TW_CUDA(cudaGetLastError());
  };
  plan.log >= log_least_wide ? enqueue_first(wide_columns{}) : enqueue_first(narrow_columns{});
  enqueue_inner(work, 0, 0, q.stream());
  enqueue_last<Modular>(work, plan, modulus, whole_product{on.c, on.length}, tiles, q.stream());
}

template <class T, bool Modular>
void enqueue_block(const ntt_block& block, const scattered_factors<T>& factors, std::uint64_t modulus,
                   const backend::memory& residues, queue& q) {
  const ntt_work work{all_word_fields(), block.log(), block.plan.fields, tables_of(q), residues.as<word>()};
  const unsigned bytes = folded_memory::bytes(work.used);
  const auto first = folded_columns<T, Modular>;
  allow_shared_memory(first, q);
  const dim3 groups(1u << (work.log - log_tile), 2);
  first<<<groups, group_size, bytes, q.stream()>>>(work, factors, modulus, block.number);
  TW_CUDA(cudaGetLastError());
  enqueue_inner(work, block.log_blocks, block.number, q.stream());
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

/// On an H200 (results/h200/polymul.jsonl.gz).
std::string yields(const registry::problem& p, const backend::device&) {
  if (modulus_of(p) != 0) return yields_to_definition(p, {1 << 15, 16});
  return yields_to_definition(p, p.type == dtype::i32 ? ntt_cut_off{1 << 25, 256} : ntt_cut_off{1 << 24, 128});
}

}  // namespace

void multiply_block_on_cuda(const registry::problem& p, const ntt_block& block,
                            std::span<const backend::memory> a_parts, std::span<const backend::memory> b_parts,
                            const backend::memory& residues, backend::queue& q) {
  const auto multiply_as = [&]<class T>(T) {
    const scattered_factors<T> factors{{scattered<const T>(a_parts), scattered<const T>(b_parts)},
                                       {sizes(p).n, sizes(p).m}};
    if (const std::uint64_t modulus = modulus_of(p); modulus != 0)
      enqueue_block<T, true>(block, factors, modulus, residues, enter(q));
    else
      enqueue_block<T, false>(block, factors, modulus, residues, enter(q));
  };
  p.type == dtype::i32 ? multiply_as(std::int32_t{}) : multiply_as(std::int64_t{});
}

void combine_blocks_on_cuda(const registry::problem& p, const ntt_block& block,
                            std::span<const backend::memory> residues, std::span<const backend::memory> c_parts,
                            backend::queue& queue_of_rank) {
  queue& q = enter(queue_of_rank);
  const unsigned tiles = 1u << (block.log() - log_tile);
  scattered_product product{
      scattered<std::int64_t>(c_parts), sizes(p).product(), tiles * block.number, block.log(), {}};
  for (std::size_t k = 0; k < residues.size(); ++k) product.block[k] = residues[k].as<const word>();
  const ntt_work work{all_word_fields(), block.plan.log, block.plan.fields, tables_of(q), nullptr};
  if (const std::uint64_t modulus = modulus_of(p); modulus != 0)
    enqueue_last<true>(work, block.plan, modulus, product, tiles, q.stream());
  else
    enqueue_last<false>(work, block.plan, modulus, product, tiles, q.stream());
}

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
