// SPDX-License-Identifier: Apache-2.0
// What:   the columns of a strip of a matrix, and short rows, reduced with vectors; one file for each x86-64 level.
// Order:  columns: a block stack whose elements are rows. Eight rows are a block; two neighbouring blocks of the same
//         length are joined at once. Fewer than eight rows at the end are the last digits. Rows:
//         backend/cpu/blocks.hpp.
// Shape:  one thread takes a strip of columns, eight rows at a time, without any shuffle. W short rows are computed at
//         once, so that the value of row l ends up in lane l. Rows of up to seven elements are read as whole vectors.
// Limits: reads nothing beside the strip or the rows.
// Twins:  serial.cpp; the block stack in order/block_stack.hpp.
#include "reduce_axis/cpu/kernels.hpp"

#include "backend/cpu/blocks.hpp"
#include "backend/cpu/packed_rows.hpp"
#include "base/instantiate.hpp"

namespace tilewise::impl::reduce_axis::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;
template <class T>
constexpr unsigned width = level::lanes<T>;

constexpr std::uint64_t together = 8;
constexpr unsigned most_levels = 32;

template <class T, class Op>
vector<T> join(vector<T> a, vector<T> b) {
  return level::apply<Op, T>(a, b);
}

/// The block value of Count rows in one vector of columns. With Part, only the first `count` lanes are columns.
template <unsigned Count, bool Part, class T, class Op>
[[gnu::always_inline]] inline vector<T> block(const T* a, std::uint64_t stride, unsigned count) {
  if constexpr (Count == 1)
    return Part ? level::load_first(a, count) : level::load(a);
  else
    return join<T, Op>(block<Count / 2, Part, T, Op>(a, stride, count),
                       block<Count / 2, Part, T, Op>(a + Count / 2 * stride, stride, count));
}

/// Continues `prefix` with the rows that are left after all blocks of eight.
template <unsigned Count, bool Part, class T, class Op>
[[gnu::always_inline]] inline vector<T> last_rows(const T* a, std::uint64_t stride, std::uint64_t rows, unsigned count,
                                                  vector<T> prefix) {
  if constexpr (Count == 0) {
    return prefix;
  } else {
    if ((rows & Count) != 0) {
      prefix = join<T, Op>(prefix, block<Count, Part, T, Op>(a, stride, count));
      a += Count * stride;
    }
    return last_rows<Count / 2, Part, T, Op>(a, stride, rows, count, prefix);
  }
}

/// The stack's blocks of one strip: [level][column].
template <class T>
struct alignas(64) stack {
  T block[most_levels][strip<T>];
};

/// Adds block number `number` to a stack that holds `depth` blocks.
template <bool Part, class T, class Op>
[[gnu::always_inline]] inline void push(stack<T>& blocks, unsigned depth, std::uint64_t number, std::uint64_t column,
                                        const T* a, std::uint64_t stride, unsigned count) {
  vector<T> value = block<together, Part, T, Op>(a + column, stride, count);
  for (std::uint64_t bits = number; (bits & 1) != 0; bits >>= 1)
    value = join<T, Op>(level::load(blocks.block[--depth] + column), value);
  level::store<T>(blocks.block[depth] + column, value);
}

template <bool Part, class T, class Op>
[[gnu::always_inline]] inline vector<T> fold(const stack<T>& blocks, unsigned depth, std::uint64_t column, const T* a,
                                             std::uint64_t stride, std::uint64_t rows, unsigned count,
                                             vector<T> prefix) {
  for (unsigned i = 0; i < depth; ++i) prefix = join<T, Op>(prefix, level::load(blocks.block[i] + column));
  return last_rows<together / 2, Part, T, Op>(a + rows / together * together * stride + column, stride, rows, count,
                                              prefix);
}

template <class T, class Op>
void columns(const T* a, std::uint64_t stride, std::uint64_t rows, std::uint64_t count, T* out) {
  stack<T> blocks;
  const std::uint64_t whole = count / width<T> * width<T>;
  const unsigned part = static_cast<unsigned>(count - whole);
  unsigned depth = 0;
  for (std::uint64_t number = 0; number < rows / together; ++number) {
    const T* const from = a + number * together * stride;
    for (std::uint64_t c = 0; c < whole; c += width<T>)
      push<false, T, Op>(blocks, depth, number, c, from, stride, width<T>);
    const std::uint64_t after = rows - (number + 1) * together;
    if (part != 0 && stride == count && after * stride >= width<T>)  // lanes past a row's end lie in later rows
      push<false, T, Op>(blocks, depth, number, whole, from, stride, part);
    else if (part != 0)
      push<true, T, Op>(blocks, depth, number, whole, from, stride, part);
    depth = static_cast<unsigned>(__builtin_popcountll(number + 1));
  }
  for (std::uint64_t c = 0; c < whole; c += width<T>)
    level::store<T>(out + c, fold<false, T, Op>(blocks, depth, c, a, stride, rows, width<T>, level::load(out + c)));
  if (part == 0) return;
  const vector<T> first = level::load_first(out + whole, part);
  level::store_first<T>(out + whole, fold<true, T, Op>(blocks, depth, whole, a, stride, rows, part, first), part);
}

/// One vector of each row at the same columns, as a source: vector i is that of row i. With Part, lanes beyond the end
/// hold the identity.
template <class T, class Op, bool Part>
struct row_column {
  const T* a;
  std::uint64_t stride;
  unsigned count = width<T>;

  row_column operator+(unsigned elements) const { return {a + elements / width<T> * stride, stride, count}; }
  friend vector<T> load(const row_column& c) {
    if constexpr (!Part) return level::load(c.a);
    const auto present = level::lane_numbers<T>() < static_cast<level::mask_lane<T>>(c.count);
    return present ? level::load_first(c.a, c.count) : level::broadcast(Op::template identity<T>());
  }
};

/// P(N) of W rows, one per lane, from their columns.
template <class T, class Op, int N, int Digit>
[[gnu::always_inline]] inline vector<T> fold_columns(const vector<T>* columns, vector<T> prefix) {
  if constexpr (Digit == 0)
    return prefix;
  else if constexpr ((N & Digit) != 0)
    return fold_columns<T, Op, N, Digit / 2>(columns + Digit,
                                             join<T, Op>(prefix, level::blocks<T, Op>::template tree<Digit>(columns)));
  else
    return fold_columns<T, Op, N, Digit / 2>(columns, prefix);
}

/// Rows of N elements without gaps: whole vectors are loaded, and their lanes shuffled into columns.
template <class T, class Op, int N>
std::uint64_t packed_rows(const T* a, std::uint64_t count, T* out) {
  std::uint64_t i = 0;
  for (; i + width<T> <= count; i += width<T>) {
    vector<T> in[N], columns[N];
    for (int k = 0; k < N; ++k) in[k] = level::load(a + i * N + static_cast<unsigned>(k) * width<T>);
    [&]<int... C>(std::integer_sequence<int, C...>) { ((columns[C] = level::packed_column<T, N, C>(in, in[0])), ...); }
    (std::make_integer_sequence<int, N>());
    level::store<T>(out + i, fold_columns<T, Op, N, 4>(columns, level::broadcast(Op::template identity<T>())));
  }
  return i;
}

template <class T, class Op, int N = 1>
std::uint64_t rows_of(std::uint64_t n, const T* a, std::uint64_t count, T* out) {
  if constexpr (N < level::most_packed)
    if (n != N) return rows_of<T, Op, N + 1>(n, a, count, out);
  return packed_rows<T, Op, N>(a, count, out);
}

template <class T, class Op>
std::uint64_t rows(const T* a, std::uint64_t stride, std::uint64_t count, std::uint64_t n, T* out) {
  if (stride == n && n <= level::most_packed) return rows_of<T, Op>(n, a, count, out);
  std::uint64_t i = 0;
  for (; i + width<T> <= count; i += width<T>) {
    const T* const from = a + i * stride;
    level::store<T>(out + i, level::blocks<T, Op>::prefixes_of_rows(
                                 n,
                                 [&](std::uint64_t c) {
                                   return row_column<T, Op, false>{from + c, stride};
                                 },
                                 [&](std::uint64_t c, unsigned part) {
                                   return row_column<T, Op, true>{from + c, stride, part};
                                 }));
  }
  return i;
}

template <class T, class Op>
constexpr cpu_kernels<T> kernels_of{columns<T, Op>, rows<T, Op>, 2 * width<T>* width<T>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(op operation) {
  return order::with_operator(operation, []<class Op>(Op) -> const cpu_kernels<T>& { return kernels_of<T, Op>; });
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::reduce_axis::TILEWISE_LEVEL
