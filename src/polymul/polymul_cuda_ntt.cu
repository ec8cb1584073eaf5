// What:   polynomial product by number-theoretic transforms modulo three or six primes below 2^30.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  columns: 256 rows of a block, 16 columns a group, through 8 levels; from the coefficients of the factors to
//         residues first. Rows: tiles of 4096 neighbours through the other levels, the products of leaves, and back.
//         Columns again; the last ones put the residues of a coefficient together. No element changes its place.
// Limits: 2^27 coefficients of the product, 2^26 with six primes.
// Twins:  polymul_ntt.cl, polymul_cpu_ntt.cpp.
#include "polymul/polymul_cuda.cuh"
#include "polymul/polymul_cuda.hpp"
#include "polymul/polymul_cuda_ntt.cuh"

namespace tilewise::impl::polymul {

namespace {

using namespace backend::cuda;

constexpr unsigned group_size = 256;

// the table of roots

__global__ void __launch_bounds__(group_size) fill_tables(const __grid_constant__ ntt_plan plan, word* tables) {
  const unsigned at = blockIdx.x * group_size + threadIdx.x, entry = at % table_size, part = at / table_size;
  const unsigned high = part % 2, backward = part / 2 % 2;
  const word_field& f = plan.field[part / 4];
  word form = f.one;
  for (unsigned bit = 0; entry >> bit != 0; ++bit)
    if ((entry >> bit & 1) != 0) form = lower(times(form, f.of_bit[backward][bit + high * log_table], f), f.p);
  tables[at] = form;
}

// columns

constexpr unsigned columns = 16, log_column_levels = 2 * log_rows, column_nodes = 1u << log_column_levels;
constexpr unsigned tile_points = column_nodes * columns, log_tile = 12;
static_assert(tile_points == 1u << log_tile && tile_points == group_size * rows);

/// 16 words of padding for each 16 rows keep the two rows that a warp meets in different banks.
struct column_memory {
  word roots[column_nodes];
  word tile[tile_points + column_nodes];

  __device__ word& at(unsigned row, unsigned column) { return tile[(row + row / rows) * columns + column]; }
};

/// Where a group's tile lies: its columns of block `block` of the level whose blocks have 256 rows of `stride`.
struct column_tile {
  std::uint64_t block, first, stride;
  unsigned column, row;  // of this thread: row + 16 i before the exchange, 16 row + i after it

  __device__ column_tile(std::uint64_t tile, std::uint64_t row_stride)
      : block(tile / (row_stride / columns)),
        first(block * column_nodes * row_stride + tile % (row_stride / columns) * columns),
        stride(row_stride),
        column(threadIdx.x % columns),
        row(threadIdx.x / columns) {}
  __device__ std::uint64_t early(unsigned i) const { return first + (row + rows * i) * stride + column; }
  __device__ std::uint64_t late(unsigned i) const { return first + (rows * row + i) * stride + column; }
};

/// From the rows row + 16 i to the rows 16 row + i. The group's roots are loaded, maybe by others.
__device__ __forceinline__ void columns_down(word (&x)[rows], column_memory& here, const column_tile& tile,
                                             unsigned done, const word_field& f) {
  __syncthreads();  // the roots are there
  forward_rows(x, here.roots, 1, done, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) here.at(tile.row + rows * i, tile.column) = x[i];
  __syncthreads();  // so is the tile
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = here.at(rows * tile.row + i, tile.column);
  forward_rows(x, here.roots, rows + tile.row, 0, f);
}

__device__ __forceinline__ void columns_up(word (&x)[rows], column_memory& here, const column_tile& tile,
                                           const word_field& f) {
  __syncthreads();  // the roots are there
  backward_rows(x, here.roots, rows + tile.row, 0, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) here.at(rows * tile.row + i, tile.column) = x[i];
  __syncthreads();  // so is the tile
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = here.at(tile.row + rows * i, tile.column);
  backward_rows(x, here.roots, 1, 0, f);
}

/// Below 4 p.
__device__ word residue_of(std::int32_t x, const word_field& f) {
  return times(static_cast<word>(x), f.one, f) + (x < 0 ? f.minus_radix : 0);
}
__device__ word residue_of(std::int64_t x, const word_field& f) {
  const auto low = static_cast<word>(x), high = static_cast<word>(x >> 32);
  const word sum = times(high, f.radix, f) + times(low, f.one, f);
  return lower(sum, 2 * f.p) + (x < 0 ? f.minus_radix_2 : 0);
}

template <class T>
__device__ word start_of(T x, std::uint64_t modulus, const word_field& f) {
  return modulus == 0 ? residue_of(x, f) : residue_of(static_cast<std::int64_t>(residue(x, modulus)), f);
}

/// Group (tile, field, factor): coefficients to residues, and the first levels.
template <class T>
__global__ void __launch_bounds__(group_size, 5)
    first_columns(const __grid_constant__ ntt_plan plan, operands<T> on, std::uint64_t modulus, const word* tables,
                  word* data) {
  __shared__ column_memory here;
  const unsigned k = blockIdx.y;
  const word_field& f = plan.field[k];
  const column_tile tile(blockIdx.x, plan.points() / column_nodes);
  const T* from = blockIdx.z == 0 ? on.a : on.b;
  const std::uint64_t count = blockIdx.z == 0 ? on.n : on.m;
  // The first level takes x modulo x^n - 1 and x^n + 1, which is twice the same where its upper half is zeros.
  const bool halved = count <= plan.points() / 2;
  word x[rows];
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) {
    const std::uint64_t at = tile.early(i);
    x[i] = i >= rows / 2 && halved ? x[i - rows / 2] : at < count ? start_of(from[at], modulus, f) : 0;
  }
  load_roots<column_nodes, group_size>(here.roots, root_tables(tables, k, 0), 0, f);
  columns_down(x, here, tile, halved ? 1 : 0, f);
  word* const to = data + blockIdx.z * plan.values() + k * plan.points();
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) to[tile.late(i)] = x[i];
}

/// Group (tile, field, factor): the next eight levels, or of the product's factor back through them.
template <bool Down>
__global__ void __launch_bounds__(group_size, 5)
    inner_columns(const __grid_constant__ ntt_plan plan, std::uint64_t stride, const word* tables, word* data) {
  __shared__ column_memory here;
  const unsigned k = blockIdx.y;
  const word_field& f = plan.field[k];
  const column_tile tile(blockIdx.x, stride);
  word* const values = data + blockIdx.z * plan.values() + k * plan.points();
  word x[rows];
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = values[Down ? tile.early(i) : tile.late(i)];
  load_roots<column_nodes, group_size>(here.roots, root_tables(tables, k, Down ? 0 : 1), tile.block, f);
  if constexpr (Down)
    columns_down(x, here, tile, 0, f);
  else
    columns_up(x, here, tile, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) values[Down ? tile.late(i) : tile.early(i)] = x[i];
}

/// The coefficient with these digits in mixed radix.
template <unsigned Fields>
__device__ std::int64_t value_of(const word (&digit)[Fields], const ntt_plan& plan, std::uint64_t modulus) {
  __extension__ using wide = unsigned __int128;
  if (modulus != 0) {
    wide sum = 0;
#pragma unroll
    for (unsigned k = 0; k < Fields; ++k) sum += wide{plan.weight[k]} * digit[k];
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum % modulus));
  }
  std::uint64_t sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Fields; ++k) sum += plan.weight[k] * digit[k];
  const bool negative =
      digit[Fields - 1] > plan.field[Fields - 1].p / 2;  // numbers have far fewer bits than all primes
  return static_cast<std::int64_t>(negative ? sum - plan.all : sum);
}

/// The first levels upwards for all fields, whose residues become digits by Garner's algorithm (Knuth, TAOCP 2, 4.3.2).
template <unsigned Fields>
__global__ void __launch_bounds__(group_size, Fields <= 3 ? 3 : 1)
    last_columns(const __grid_constant__ ntt_plan plan, std::uint64_t modulus, const word* tables, const word* data,
                 std::int64_t* c, std::uint64_t length) {
  __shared__ column_memory here;
  const column_tile tile(blockIdx.x, plan.points() / column_nodes);
  word digit[rows][Fields];
#pragma unroll
  for (unsigned k = 0; k < Fields; ++k) {
    const word_field& f = plan.field[k];
    word x[rows];
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) x[i] = data[k * plan.points() + tile.late(i)];
    load_roots<column_nodes, group_size>(here.roots, root_tables(tables, k, 1), 0, f);
    columns_up(x, here, tile, f);
    __syncthreads();  // all have used roots and tile
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      word rest = times(x[i], f.scale, f);
#pragma unroll
      for (unsigned j = 0; j < k; ++j) rest = times(rest + f.offset - digit[i][j], f.inverse_of[j], f);
      digit[i][k] = lower(rest, f.p);
    }
  }
#pragma unroll
  for (unsigned i = 0; i < rows; ++i)
    if (tile.early(i) < length) c[tile.early(i)] = value_of(digit[i], plan, modulus);
}

// rows

constexpr unsigned row_nodes = 2 * group_size, leaf = 1u << log_leaf;
static_assert(rows == 2 * leaf);

struct row_memory {
  word down[row_nodes], up[row_nodes];
  word tile[2][tile_points + tile_points / rows];

  /// A word of padding for each thread's neighbours.
  __device__ word& at(unsigned factor, unsigned i) { return tile[factor][i + i / rows]; }
};

/// a = a b modulo x^8 - root, divided by 2^32; `form` is the root's. Enters with less than p, leaves with less than 2
/// p.
__device__ __forceinline__ void multiply_leaves(word* a, const word* b, word form, const word_field& f) {
  word product[leaf];
#pragma unroll
  for (unsigned k = 0; k < leaf; ++k) {
    std::uint64_t over = 0, sum = 0;
#pragma unroll
    for (unsigned i = k + 1; i < leaf; ++i) over += std::uint64_t{a[i]} * b[leaf + k - i];
#pragma unroll
    for (unsigned i = 0; i <= k; ++i) sum += std::uint64_t{a[i]} * b[k - i];
    if (k + 1 < leaf) sum += std::uint64_t{form} * montgomery(over, f);  // at most 10.6 p^2 in all
    product[k] = lower(montgomery(sum, f), 2 * f.p);
  }
#pragma unroll
  for (unsigned k = 0; k < leaf; ++k) a[k] = product[k];
}

/// This thread's 16 neighbours through the level above the leaves, to numbers below p.
__device__ __forceinline__ void load_leaves(word (&x)[rows], row_memory& here, unsigned factor, const word_field& f) {
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = here.at(factor, threadIdx.x * rows + i);
#pragma unroll
  for (unsigned i = 0; i < leaf; ++i) {
    const word u = lower(x[i], 2 * f.p), v = times(x[i + leaf], here.down[group_size + threadIdx.x], f);
    x[i] = lower(lower(u + v, 2 * f.p), f.p);
    x[i + leaf] = lower(lower(u - v + 2 * f.p, 2 * f.p), f.p);
  }
}

/// This thread's neighbours of both factors: the level above the leaves, the leaves, and back.
__device__ __forceinline__ void multiply_neighbours(row_memory& here, const word_field& f) {
  const unsigned node = group_size + threadIdx.x;
  word a[rows], b[rows];
  load_leaves(a, here, 0, f);
  load_leaves(b, here, 1, f);
  const word form = here.down[node];
  multiply_leaves(a, b, form, f);
  multiply_leaves(a + leaf, b + leaf, f.p - form, f);
#pragma unroll
  for (unsigned i = 0; i < leaf; ++i) {
    const word u = a[i], v = a[i + leaf];
    a[i] = lower(u + v, 2 * f.p);
    a[i + leaf] = times(u - v + 2 * f.p, here.up[node], f);
  }
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) here.at(0, threadIdx.x * rows + i) = a[i];
}

/// Group (tile, field). The columns have done the first `done` levels of the tile's nine.
__global__ void __launch_bounds__(group_size, 3)
    multiply_rows(const __grid_constant__ ntt_plan plan, unsigned done, const word* tables, word* data) {
  __shared__ row_memory here;
  const unsigned k = blockIdx.y, block = threadIdx.x / rows, inner = block * group_size + threadIdx.x % rows;
  const word_field& f = plan.field[k];
  const unsigned done_later = done < log_rows ? 0 : done - log_rows;
  word* const values = data + k * plan.points() + std::uint64_t{blockIdx.x} * tile_points;
  load_roots<row_nodes, group_size>(here.down, root_tables(tables, k, 0), blockIdx.x, f);
  load_roots<row_nodes, group_size>(here.up, root_tables(tables, k, 1), blockIdx.x, f);
  __syncthreads();  // the roots are there
  word x[rows];
  for (unsigned factor = 0; factor < 2; ++factor) {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) x[i] = values[factor * plan.values() + threadIdx.x + i * group_size];
    forward_rows(x, here.down, 1, done, f);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) here.at(factor, threadIdx.x + i * group_size) = x[i];
  }
  __syncthreads();  // the first levels are done
  for (unsigned factor = 0; factor < 2; ++factor) {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) x[i] = here.at(factor, inner + i * rows);
    forward_rows(x, here.down, rows + block, done_later, f);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) here.at(factor, inner + i * rows) = x[i];
  }
  __syncthreads();  // blocks of 16 are left
  multiply_neighbours(here, f);
  __syncthreads();  // they are multiplied
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = here.at(0, inner + i * rows);
  backward_rows(x, here.up, rows + block, done_later, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) here.at(0, inner + i * rows) = x[i];
  __syncthreads();  // the first levels are left
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = here.at(0, threadIdx.x + i * group_size);
  backward_rows(x, here.up, 1, done, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) values[threadIdx.x + i * group_size] = x[i];
}

// on the host

std::uint64_t workspace_words(const ntt_plan& plan) { return 2 * plan.values() + 4 * plan.fields * table_size; }

template <class T>
void enqueue(const registry::problem& p, const operands<T>& on, queue& q) {
  const ntt_plan plan(p);
  const backend::buffer workspace(q, workspace_words(plan) * sizeof(word));
  word* const data = workspace.as<word>();
  word* const tables = data + 2 * plan.values();
  const auto tiles = static_cast<unsigned>(plan.points() / tile_points);
  const cudaStream_t stream = q.stream();
  const std::uint64_t modulus = modulus_of(p), inner_stride = plan.points() >> (2 * log_column_levels);
  const bool twice = plan.log > log_column_levels + log_tile;
  const unsigned done = (twice ? 2 : 1) * log_column_levels - (plan.log - log_tile);
  fill_tables<<<4 * plan.fields * table_size / group_size, group_size, 0, stream>>>(plan, tables);
  first_columns<<<dim3(tiles, plan.fields, 2), group_size, 0, stream>>>(plan, on, modulus, tables, data);
  if (twice)
    inner_columns<true><<<dim3(tiles, plan.fields, 2), group_size, 0, stream>>>(plan, inner_stride, tables, data);
  multiply_rows<<<dim3(tiles, plan.fields), group_size, 0, stream>>>(plan, done, tables, data);
  if (twice)
    inner_columns<false><<<dim3(tiles, plan.fields), group_size, 0, stream>>>(plan, inner_stride, tables, data);
  (plan.fields == most_words ? last_columns<most_words> : last_columns<few_words>)<<<tiles, group_size, 0, stream>>>(
      plan, modulus, tables, data, on.c, on.length);
  TW_CUDA(cudaGetLastError());
}

void run(const registry::problem& p, const registry::memories& where, const registry::tuning&, backend::queue& q) {
  if (sizes(p).product() == 0) return;
  if (p.type == dtype::i32)
    enqueue(p, operands<std::int32_t>(p, where), enter(q));
  else
    enqueue(p, operands<std::int64_t>(p, where), enter(q));
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return without_plan(p);
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
          .run = run};
}

}  // namespace tilewise::impl::polymul
