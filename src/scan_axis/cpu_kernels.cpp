// SPDX-License-Identifier: Apache-2.0
// What:   the columns of a strip of a matrix, and short rows, scanned with vectors; one file for each x86-64 level.
// Order:  a block stack whose elements are rows. Eight rows are a block; two neighbouring blocks of the same length are
//         joined at once. The prefix before each block is kept with it, so the prefix after the newest block takes one
//         operation. Within eight rows prefixes descend from the one before them.
//         Short rows: P(i) combines P(i without its lowest digit) and the block of that digit.
// Shape:  one thread takes a strip of columns, eight rows at a time, without any shuffle; each row is read once and
//         written once. Rows of up to seven elements are read as whole vectors, and shuffled so that each lane has a
//         row.
// Limits: touches nothing beside the strip; all of a block is read before any of it is written.
// Twins:  serial.cpp; the block stack in order/block_stack.hpp.
#include "scan_axis/cpu_kernels.hpp"

#include "backend/cpu/blocks.hpp"
#include "backend/cpu/packed_rows.hpp"
#include "base/instantiate.hpp"

namespace tilewise::impl::scan_axis::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;
template <class T>
constexpr unsigned width = level::lanes<T>;

constexpr unsigned together = 8;

template <class T, class Op>
vector<T> join(vector<T> a, vector<T> b) {
  return level::apply<Op, T>(a, b);
}

/// The block value of Count rows.
template <class T, class Op, unsigned Count>
[[gnu::always_inline]] inline vector<T> tree(const vector<T>* x) {
  return level::blocks<T, Op>::template tree<Count>(x);
}

/// The stack of a strip: the blocks of each level, and the prefixes before them. On top, the prefixes before the next
/// block.
template <class T>
struct stack {
  T* rows;
  std::uint64_t pitch;

  T* block(unsigned depth) const { return rows + 2 * depth * pitch; }
  T* before(unsigned depth) const { return rows + (2 * depth + 1) * pitch; }
};

/// The prefixes at each of Count rows; `before` is the prefix before them.
template <class T, class Op, unsigned Count>
[[gnu::always_inline]] inline void prefixes(const vector<T>* x, vector<T> before, vector<T>* p) {
  if constexpr (Count == 1) {
    p[0] = before;
  } else {
    prefixes<T, Op, Count / 2>(x, before, p);
    prefixes<T, Op, Count / 2>(x + Count / 2, join<T, Op>(before, tree<T, Op, Count / 2>(x)), p + Count / 2);
  }
}

/// Block `number` of a vector of columns. `at` says which rows and columns exist.
template <class T>
struct piece {
  strip<T> at;
  std::uint64_t number;
  std::uint64_t column;
  unsigned depth;  // blocks on the stack
  bool is_last;
};

/// With `Whole`, all eight rows and all lanes exist.
template <bool Whole, class T, class Op>
[[gnu::always_inline]] inline void load_rows(const strip<T>& s, vector<T>* x) {
  for (unsigned r = 0; r < together; ++r) {
    const T* const from = s.in + r * s.in_stride;
    if constexpr (Whole)
      x[r] = level::load(from);
    else
      x[r] = r < s.rows ? level::load_first(from, static_cast<unsigned>(s.columns))
                        : level::broadcast(Op::template identity<T>());
  }
}

template <bool Whole, class T, class Op>
[[gnu::always_inline]] inline void store_rows(const strip<T>& s, const vector<T>* p, T first) {
  const vector<T> init = level::broadcast(first);
  for (unsigned r = 0; r < together; ++r) {
    T* const to = s.out + r * s.out_stride;
    const vector<T> result = level::canonical<T>(join<T, Op>(init, p[r]));
    if constexpr (Whole)
      level::store<T>(to, result);
    else if (r < s.rows)
      level::store_first<T>(to, result, static_cast<unsigned>(s.columns));
  }
}

template <bool Whole, class T, class Op>
[[gnu::always_inline]] inline void scan_piece(const piece<T>& s, const stack<T>& blocks, const strip_descent<T>& how) {
  vector<T> x[together], p[together + 1];
  load_rows<Whole, T, Op>(s.at, x);
  prefixes<T, Op, together>(x, level::load(blocks.before(s.depth) + s.column), p);
  vector<T> value = tree<T, Op, together>(x);
  unsigned depth = s.depth;
  for (std::uint64_t bits = s.number; (bits & 1) != 0; bits >>= 1)
    value = join<T, Op>(level::load(blocks.block(--depth) + s.column), value);
  p[together] = join<T, Op>(level::load(blocks.before(depth) + s.column), value);
  if (s.is_last && how.next != nullptr)
    p[together] = level::load_first(how.next + s.column, static_cast<unsigned>(s.at.columns));
  level::store<T>(blocks.block(depth) + s.column, value);
  level::store<T>(blocks.before(depth + 1) + s.column, p[together]);
  store_rows<Whole, T, Op>(s.at, how.inclusive ? p + 1 : p, how.init);
}

/// Whether rows shorter than a vector may be read and written as whole vectors. Lanes past a row's end must lie in
/// later rows of the strip, which are written again later.
template <class T>
bool may_run_over(const strip<T>& s, std::uint64_t rows_after) {
  return s.columns < width<T> && s.in_stride == s.columns && s.out_stride == s.columns && s.in != s.out &&
         rows_after * s.columns >= width<T>;
}

template <class T, class Op>
void columns(const strip<T>& s, const strip_descent<T>& how, T* scratch) {
  const stack<T> blocks{scratch, scratch_pitch(s.columns)};
  for (std::uint64_t c = 0; c < s.columns + width<T>; ++c)
    blocks.before(0)[c] = how.carry == nullptr || c >= s.columns ? Op::template identity<T>() : how.carry[c];
  unsigned depth = 0;
  for (std::uint64_t number = 0; number * together < s.rows; ++number) {
    const std::uint64_t row = number * together, rows = s.rows - row < together ? s.rows - row : together;
    const bool runs_over = may_run_over(s, s.rows - row - rows);
    for (std::uint64_t c = 0; c < s.columns; c += width<T>) {
      const std::uint64_t count = s.columns - c < width<T> ? s.columns - c : width<T>;
      const strip<T> at{
          s.in + row * s.in_stride + c, s.in_stride, s.out + row * s.out_stride + c, s.out_stride, rows, count};
      const piece<T> some{at, number, c, depth, row + together >= s.rows};
      if (rows == together && (count == width<T> || runs_over))
        scan_piece<true, T, Op>(some, blocks, how);
      else
        scan_piece<false, T, Op>(some, blocks, how);
    }
    depth = static_cast<unsigned>(__builtin_popcountll(number + 1));
  }
}

/// P(I), ..., P(N) of the columns x[0], ..., x[N - 1].
template <class T, class Op, int N, int I = 0>
[[gnu::always_inline]] inline void prefixes_of_columns(const vector<T>* x, vector<T>* p) {
  if constexpr (I == 0) p[I] = level::broadcast(Op::template identity<T>());
  if constexpr (I != 0) p[I] = join<T, Op>(p[I & (I - 1)], tree<T, Op, (I & -I)>(x + (I & (I - 1))));
  if constexpr (I < N) prefixes_of_columns<T, Op, N, I + 1>(x, p);
}

template <class T, class Op, int N>
std::uint64_t rows_of_length(const T* in, T* out, std::uint64_t rows, T first, bool inclusive) {
  constexpr auto all = std::make_integer_sequence<int, N>();
  const vector<T> init = level::broadcast(first);
  std::uint64_t i = 0;
  for (; i + width<T> <= rows; i += width<T>) {
    vector<T> memory[N], x[N], p[N + 1];
    for (int k = 0; k < N; ++k) memory[k] = level::load(in + i * N + static_cast<unsigned>(k) * width<T>);
    [&]<int... C>(std::integer_sequence<int, C...>) {
      ((x[C] = level::packed_column<T, N, C>(memory, memory[0])), ...);
    }
    (all);
    prefixes_of_columns<T, Op, N>(x, p);
    for (int c = 0; c < N; ++c) x[c] = level::canonical<T>(join<T, Op>(init, p[inclusive ? c + 1 : c]));
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (level::store<T>(out + i * N + static_cast<unsigned>(K) * width<T>, level::packed_vector<T, N, K>(x, x[0])), ...);
    }
    (all);
  }
  return i;
}

template <class T, class Op, int N = 1>
std::uint64_t packed_rows(const T* in, T* out, std::uint64_t rows, std::uint64_t n, T init, bool inclusive) {
  if constexpr (N > level::most_packed)
    return 0;
  else if (n != N)
    return packed_rows<T, Op, N + 1>(in, out, rows, n, init, inclusive);
  else
    return rows_of_length<T, Op, N>(in, out, rows, init, inclusive);
}

template <class T, class Op>
constexpr cpu_kernels<T> kernels_of{columns<T, Op>, packed_rows<T, Op>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(op operation) {
  return order::with_operator(operation, []<class Op>(Op) -> const cpu_kernels<T>& { return kernels_of<T, Op>; });
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::scan_axis::TILEWISE_LEVEL
