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

constexpr unsigned group_size = 256, rows = 16, log_rows = 4;  // rows that a thread holds

// the table of roots

__global__ void __launch_bounds__(group_size) fill_tables(const __grid_constant__ ntt_plan plan, word* tables) {
  const unsigned at = blockIdx.x * group_size + threadIdx.x, entry = at % table_size, part = at / table_size;
  const unsigned high = part % 2, backward = part / 2 % 2;
  const word_field& f = plan.field[part / 4];
  word form = f.radix.value;  // of 1
  for (unsigned bit = 0; entry >> bit != 0; ++bit)
    if ((entry >> bit & 1) != 0)
      form = lower(montgomery(std::uint64_t{form} * f.of_bit[backward][bit + high * log_table], f), f.p);
  tables[at] = form;
}

// columns

constexpr unsigned columns = 16, log_column_levels = 2 * log_rows, column_nodes = 1u << log_column_levels;
constexpr unsigned tile_points = column_nodes * columns, log_tile = 12;
static_assert(tile_points == 1u << log_tile && tile_points == group_size * rows);

/// 16 words of padding for each 16 rows keep the two rows that a warp meets in different banks.
constexpr unsigned padded_rows = rows + 1;
struct column_memory {
  word_factor roots[column_nodes];
  word tile[rows * padded_rows * columns];
};

/// Where a group's tile lies: its columns of block `block` of the level whose blocks have 256 rows of `stride`.
struct column_tile {
  unsigned block, column, row;  // the last two of this thread: row + 16 i before the exchange, 16 row + i after it
  unsigned stride, first;

  __device__ column_tile(unsigned tile, unsigned row_stride)
      : block(tile / (row_stride / columns)),
        column(threadIdx.x % columns),
        row(threadIdx.x / columns),
        stride(row_stride),
        first(block * column_nodes * row_stride + tile % (row_stride / columns) * columns + column) {}
  __device__ std::uint64_t early(unsigned i) const { return first + row * stride + std::uint64_t{rows * stride} * i; }
  __device__ std::uint64_t late(unsigned i) const { return first + rows * row * stride + std::uint64_t{stride} * i; }
  // The same places in column_memory.
  __device__ unsigned early_cell(unsigned i) const { return threadIdx.x + i * padded_rows * columns; }
  __device__ unsigned late_cell(unsigned i) const { return row * padded_rows * columns + column + i * columns; }
};

/// From the rows row + 16 i to the rows 16 row + i. The group's roots are loaded, maybe by others.
__device__ __forceinline__ void columns_down(word (&x)[rows], column_memory& here, const column_tile& tile,
                                             unsigned done, const word_field& f) {
  __syncthreads();  // the roots are there
  forward_rows<log_rows>(x, here.roots, 1, done, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) here.tile[tile.early_cell(i)] = x[i];
  __syncthreads();  // so is the tile
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = here.tile[tile.late_cell(i)];
  forward_rows<log_rows>(x, here.roots, rows + tile.row, 0, f);
}

__device__ __forceinline__ void columns_up(word (&x)[rows], column_memory& here, const column_tile& tile,
                                           const word_field& f) {
  __syncthreads();  // the roots are there
  backward_rows<log_rows>(x, here.roots, rows + tile.row, 0, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) here.tile[tile.late_cell(i)] = x[i];
  __syncthreads();  // so is the tile
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = here.tile[tile.early_cell(i)];
  backward_rows<log_rows>(x, here.roots, 1, 0, f);
}

/// Below 4 p.
__device__ word residue_of(std::int32_t x, const word_field& f) {
  return times(static_cast<word>(x), f.one, f.p) + (x < 0 ? f.minus_radix : 0);
}
__device__ word residue_of(std::int64_t x, const word_field& f) {
  const auto low = static_cast<word>(x), high = static_cast<word>(x >> 32);
  const word sum = times(high, f.radix, f.p) + times(low, f.one, f.p);
  return lower(sum, f.twice) + (x < 0 ? f.minus_radix_2 : 0);
}

/// Group (tile, field, factor): coefficients to residues, and the first levels.
template <class T, bool Modular>
__global__ void __launch_bounds__(group_size, 5) first_columns(const __grid_constant__ ntt_plan plan, operands<T> on,
                                                               std::uint64_t modulus, const word* tables, word* data) {
  __shared__ column_memory here;
  const unsigned k = blockIdx.y;
  const word_field& f = plan.field[k];
  const column_tile tile(blockIdx.x, static_cast<unsigned>(plan.points() / column_nodes));
  const T* from = blockIdx.z == 0 ? on.a : on.b;
  const std::uint64_t count = blockIdx.z == 0 ? on.n : on.m;
  // The first level takes x modulo x^n - 1 and x^n + 1, which is twice the same where its upper half is zeros.
  const bool halved = count <= plan.points() / 2;
  word x[rows];
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) {
    const std::uint64_t at = tile.early(i);
    if (i >= rows / 2 && halved) {
      x[i] = x[i - rows / 2];
      continue;
    }
    const T value = at < count ? from[at] : T{0};
    if constexpr (Modular)
      x[i] = residue_of(static_cast<std::int64_t>(residue(value, modulus)), f);
    else
      x[i] = residue_of(value, f);
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
    inner_columns(const __grid_constant__ ntt_plan plan, unsigned stride, const word* tables, word* data) {
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
template <unsigned Fields, bool Modular>
__device__ std::int64_t value_of(const word (&digit)[Fields], const ntt_plan& plan, std::uint64_t modulus) {
  __extension__ using wide = unsigned __int128;
  std::conditional_t<Modular, wide, std::uint64_t> sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Fields; ++k) sum += decltype(sum){plan.weight[k]} * digit[k];
  if constexpr (Modular) return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum % modulus));
  // Numbers have far fewer bits than all primes together.
  const bool negative = digit[Fields - 1] > plan.field[Fields - 1].p / 2;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(negative ? sum - plan.all : sum));
}

/// The first levels upwards for all fields, whose residues become digits by Garner's algorithm (Knuth, TAOCP 2, 4.3.2).
template <unsigned Fields, bool Modular>
__global__ void __launch_bounds__(group_size, Fields <= 3 ? 3 : 1)
    last_columns(const __grid_constant__ ntt_plan plan, std::uint64_t modulus, const word* tables, const word* data,
                 std::int64_t* c, std::uint64_t length) {
  __shared__ column_memory here;
  const column_tile tile(blockIdx.x, static_cast<unsigned>(plan.points() / column_nodes));
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
      word rest = times(x[i], f.scale, f.p);
#pragma unroll
      for (unsigned j = 0; j < k; ++j) rest = times(rest + f.offset - digit[i][j], f.inverse_of[j], f.p);
      digit[i][k] = lower(rest, f.p);
    }
  }
#pragma unroll
  for (unsigned i = 0; i < rows; ++i)
    if (tile.early(i) < length) c[tile.early(i)] = value_of<Fields, Modular>(digit[i], plan, modulus);
}

// rows

constexpr unsigned leaf = 1u << log_leaf, lanes = group_size / rows;
static_assert(rows == 2 * leaf && lanes == rows);

/// A tile of 16 blocks of 2^LogNear rows of 16 words, a word of padding behind each row. Three ways to share it among
/// the threads, so that the levels of each are within a thread: words of all blocks, of the rows of a block,
/// neighbours.
template <unsigned LogNear>
struct row_memory {
  static constexpr unsigned held = 1u << LogNear, parts = held / rows, nodes = 2 * parts * group_size;
  static constexpr unsigned pitch = padded_rows * held;  // of blocks

  word_factor down[nodes], up[nodes];
  word tile[2][rows * pitch];

  static __device__ unsigned block() { return threadIdx.x / lanes; }
  static __device__ unsigned far(unsigned part, unsigned i) {
    return threadIdx.x + block() + part * padded_rows * rows + i * pitch;
  }
  static __device__ unsigned near(unsigned i) { return block() * pitch + threadIdx.x % lanes + i * padded_rows; }
  static __device__ unsigned next(unsigned part, unsigned i) {
    return (threadIdx.x + part * group_size) * padded_rows + i;
  }
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
    product[k] = lower(montgomery(sum, f), f.twice);
  }
#pragma unroll
  for (unsigned k = 0; k < leaf; ++k) a[k] = product[k];
}

/// 16 neighbours through the level above the leaves, to numbers below p.
__device__ __forceinline__ void load_leaves(word (&x)[rows], const word* from, const word_factor& root,
                                            const word_field& f) {
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = from[i];
#pragma unroll
  for (unsigned i = 0; i < leaf; ++i) {
    const word u = lower(x[i], f.twice), v = times(x[i + leaf], root, f.p);
    x[i] = lower(lower(u + v, f.twice), f.p);
    x[i + leaf] = lower(lower(u - v + f.twice, f.twice), f.p);
  }
}

/// 16 neighbours of both factors: the level above the leaves, the leaves, and back.
__device__ __forceinline__ void multiply_neighbours(word* a_words, const word* b_words, const word_factor& down,
                                                    const word_factor& up, const word_field& f) {
  word a[rows], b[rows];
  load_leaves(a, a_words, down, f);
  load_leaves(b, b_words, down, f);
  const word form = form_of_factor(down, f.p);
  multiply_leaves(a, b, form, f);
  multiply_leaves(a + leaf, b + leaf, f.p - form, f);
#pragma unroll
  for (unsigned i = 0; i < leaf; ++i) {
    const word u = a[i], v = a[i + leaf];
    a_words[i] = lower(u + v, f.twice);
    a_words[i + leaf] = times(u - v + f.twice, up, f.p);
  }
}

/// Group (tile, field). The columns have done the first `done` levels of the tile's.
template <unsigned LogNear>
__global__ void __launch_bounds__(group_size, LogNear == log_rows ? 3 : 2)
    multiply_rows(const __grid_constant__ ntt_plan plan, unsigned done, const word* tables, word* data) {
  using memory = row_memory<LogNear>;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& here = *reinterpret_cast<memory*>(bytes);
  constexpr unsigned parts = memory::parts, held = memory::held, stride = held * lanes;
  const unsigned k = blockIdx.y, done_later = done < log_rows ? 0 : done - log_rows;
  const word_field& f = plan.field[k];
  word* const values = data + k * plan.points() + std::uint64_t{blockIdx.x} * rows * stride + threadIdx.x;
  word x[2 * parts][rows], y[held];
#pragma unroll
  for (unsigned part = 0; part < 2 * parts; ++part)
#pragma unroll
    for (unsigned i = 0; i < rows; ++i)
      x[part][i] = values[part / parts * plan.values() + part % parts * group_size + i * stride];
  load_roots<memory::nodes, group_size>(here.down, root_tables(tables, k, 0), blockIdx.x, f);
  load_roots<memory::nodes, group_size>(here.up, root_tables(tables, k, 1), blockIdx.x, f);
  __syncthreads();  // the roots are there
#pragma unroll
  for (unsigned part = 0; part < 2 * parts; ++part) {
    forward_rows<log_rows>(x[part], here.down, 1, done, f);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) here.tile[part / parts][memory::far(part % parts, i)] = x[part][i];
  }
  __syncthreads();  // the first levels are done
  for (word* const tile : here.tile) {
#pragma unroll
    for (unsigned i = 0; i < held; ++i) y[i] = tile[memory::near(i)];
    forward_rows<LogNear>(y, here.down, rows + memory::block(), done_later, f);
#pragma unroll
    for (unsigned i = 0; i < held; ++i) tile[memory::near(i)] = y[i];
  }
  __syncthreads();  // blocks of 16 are left
  for (unsigned part = 0; part < parts; ++part) {
    const unsigned node = (parts + part) * group_size + threadIdx.x, at = memory::next(part, 0);
    multiply_neighbours(here.tile[0] + at, here.tile[1] + at, here.down[node], here.up[node], f);
  }
  __syncthreads();  // they are multiplied
#pragma unroll
  for (unsigned i = 0; i < held; ++i) y[i] = here.tile[0][memory::near(i)];
  backward_rows<LogNear>(y, here.up, rows + memory::block(), done_later, f);
#pragma unroll
  for (unsigned i = 0; i < held; ++i) here.tile[0][memory::near(i)] = y[i];
  __syncthreads();  // the first levels are left
#pragma unroll
  for (unsigned part = 0; part < parts; ++part) {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) x[part][i] = here.tile[0][memory::far(part, i)];
    backward_rows<log_rows>(x[part], here.up, 1, done, f);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) values[part * group_size + i * stride] = x[part][i];
  }
}

/// Larger tiles spare the second columns of products of 2^21 coefficients.
template <unsigned LogNear>
void launch_rows(const ntt_plan& plan, unsigned done_by_columns, const word* tables, word* data, cudaStream_t stream) {
  constexpr unsigned log_row_tile = 2 * log_rows + LogNear, bytes = sizeof(row_memory<LogNear>);
  TW_CUDA(cudaFuncSetAttribute(multiply_rows<LogNear>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  multiply_rows<LogNear>
      <<<dim3(static_cast<unsigned>(plan.points() >> log_row_tile), plan.fields), group_size, bytes, stream>>>(
          plan, done_by_columns - (plan.log - log_row_tile), tables, data);
}

// on the host

std::uint64_t workspace_words(const ntt_plan& plan) { return 2 * plan.values() + 4 * plan.fields * table_size; }

template <class T, bool Modular>
void enqueue(const ntt_plan& plan, const operands<T>& on, std::uint64_t modulus, queue& q) {
  const backend::buffer workspace(q, workspace_words(plan) * sizeof(word));
  word* const data = workspace.as<word>();
  word* const tables = data + 2 * plan.values();
  const auto tiles = static_cast<unsigned>(plan.points() / tile_points);
  const cudaStream_t stream = q.stream();
  const auto inner_stride = static_cast<unsigned>(plan.points() >> (2 * log_column_levels));
  const unsigned passes = plan.log > log_column_levels + log_tile + 1 ? 2 : 1;
  const auto rows_of = plan.log == log_column_levels + log_tile + 1 ? launch_rows<log_rows + 1> : launch_rows<log_rows>;
  const dim3 both(tiles, plan.fields, 2), one(tiles, plan.fields);
  fill_tables<<<4 * plan.fields * table_size / group_size, group_size, 0, stream>>>(plan, tables);
  first_columns<T, Modular><<<both, group_size, 0, stream>>>(plan, on, modulus, tables, data);
  if (passes == 2) inner_columns<true><<<both, group_size, 0, stream>>>(plan, inner_stride, tables, data);
  rows_of(plan, passes * log_column_levels, tables, data, stream);
  if (passes == 2) inner_columns<false><<<one, group_size, 0, stream>>>(plan, inner_stride, tables, data);
  auto last = last_columns<few_words, Modular>;
  if constexpr (Modular)
    if (plan.fields == most_words) last = last_columns<most_words, true>;
  last<<<tiles, group_size, 0, stream>>>(plan, modulus, tables, data, on.c, on.length);
  TW_CUDA(cudaGetLastError());
}

template <class T>
void multiply(const registry::problem& p, const registry::memories& where, queue& q) {
  const operands<T> on(p, where);
  if (const std::uint64_t modulus = modulus_of(p); modulus != 0)
    enqueue<T, true>(ntt_plan(p), on, modulus, q);
  else
    enqueue<T, false>(ntt_plan(p), on, modulus, q);
}

void run(const registry::problem& p, const registry::memories& where, const registry::tuning&, backend::queue& q) {
  if (sizes(p).product() == 0) return;
  if (p.type == dtype::i32)
    multiply<std::int32_t>(p, where, enter(q));
  else
    multiply<std::int64_t>(p, where, enter(q));
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
