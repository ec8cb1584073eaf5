// SPDX-License-Identifier: Apache-2.0
// What:   the outputs of one tile from its block values and its carry; compiled once for each x86-64 level.
// Order:  each lane starts from the carry and descends the tree of blocks; at each step to a right half it adds the
//         left half's value. An inclusive output is the exclusive prefix of the next position.
// Shape:  one tile on one thread; each vector by itself, since the prefix before it is known.
// Limits: touches nothing outside [in, in + n) and [out, out + n); out may be in.
// Twins:  serial.cpp; the block values come from reduce/cpu/kernels.cpp.
#include "scan/cpu/kernels.hpp"

#include "backend/cpu/blocks.hpp"
#include "base/instantiate.hpp"
#include "reduce/cpu/kernels.hpp"

namespace tilewise::impl::scan::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;

template <class T>
constexpr unsigned width = level::lanes<T>;

/// Computes the outputs of one vector from the prefixes before and after it.
template <class T, class Op, bool Inclusive>
[[gnu::always_inline]] inline vector<T> outputs(vector<T> elements, vector<T> before, vector<T> behind, T init) {
  vector<T> result = level::blocks<T, Op>::prefixes(elements, before);
  if constexpr (Inclusive) result = level::shift_down<T>(result, behind);
  return level::canonical<T>(level::apply<Op, T>(level::broadcast(init), result));
}

/// The outputs of an incomplete vector of `rest` elements. No output needs the prefix after it.
template <class T, class Op, bool Inclusive>
[[gnu::always_inline]] inline void write_rest(const T* in, T* out, unsigned rest, vector<T> before, T init) {
  if (rest == 0) return;
  level::store_first<T>(out, outputs<T, Op, Inclusive>(level::load_first(in, rest), before, before, init), rest);
}

/// Writes the outputs of whole vectors. Meanwhile prefetches the elements at `ahead`.
template <class T, class Op, bool Inclusive>
void write(const T* in, T* out, std::uint64_t vectors, const T* prefix, T init, const T* ahead) {
  for (std::uint64_t i = 0; i < vectors; ++i) {
    __builtin_prefetch(ahead + i * width<T>);
    const vector<T> before = level::broadcast(prefix[i]), behind = level::broadcast(prefix[i + 1]);
    level::store<T>(out + i * width<T>,
                    outputs<T, Op, Inclusive>(level::load(in + i * width<T>), before, behind, init));
  }
}

/// Like write, but past the caches. That is fast only for whole aligned vectors, and the caller's array may begin
/// anywhere. So aligned vectors are cut from a few staged vectors at a time: few, so that storing them overlaps with
/// computing the next.
template <class T, class Op, bool Inclusive>
void write_streaming(const T* in, T* out, std::uint64_t vectors, const T* prefix, T init, const T* ahead) {
  constexpr std::uint64_t most = 8;
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(out) % level::vector_bytes / sizeof(T);
  const unsigned head = static_cast<unsigned>(width<T> - misaligned), rest = width<T> - head;
  T stage[(most + 1) * width<T>];  // the previous vector, and new ones
  for (std::uint64_t i = 0; i < vectors; i += most) {
    const std::uint64_t count = vectors - i < most ? vectors - i : most, at = i * width<T>;
    write<T, Op, Inclusive>(in + at, stage + width<T>, count, prefix + i, init, ahead + at);
    const bool starts = i == 0 && rest != 0;
    if (starts) level::store_first<T>(out, level::load(stage + width<T>), head);
    for (std::uint64_t j = starts ? width<T> : 0; j < count * width<T>; j += width<T>)
      level::stream<T>(out + at + j - rest, level::load(stage + head + j));
    level::store<T>(stage, level::load(stage + count * width<T>));
  }
  level::store_first<T>(out + vectors * width<T> - rest, level::load_first(stage + head, rest), rest);
  _mm_sfence();
}

template <class T, class Op, bool Inclusive>
void write_tile(const T* in, T* out, std::uint64_t n, const T* prefix, const descent<T>& how) {
  const std::uint64_t vectors = n / width<T>;
  const auto write_vectors = how.stream ? write_streaming<T, Op, Inclusive> : write<T, Op, Inclusive>;
  if (vectors != 0) write_vectors(in, out, vectors, prefix, how.init, how.ahead != nullptr ? how.ahead : in);
  write_rest<T, Op, Inclusive>(in + vectors * width<T>, out + vectors * width<T>, static_cast<unsigned>(n % width<T>),
                               level::broadcast(prefix[vectors]), how.init);
}

template <class T, class Op>
void descend(const T* in, T* out, std::uint64_t n, T* scratch, const descent<T>& how) {
  if (n < width<T>)
    scratch[0] = how.carry;
  else
    level::blocks<T, Op>::downsweep(scratch, n / width<T>, how.carry, how.next);
  (how.inclusive ? write_tile<T, Op, true> : write_tile<T, Op, false>)(in, out, n, scratch, how);
}

/// Writes the outputs of `count` < width whole vectors. `starts` are the prefixes before them, `end` the prefix after
/// all.
template <class T, class Op, bool Inclusive>
[[gnu::always_inline]] inline void write_few(const T* in, T* out, unsigned count, vector<T> starts, vector<T> end,
                                             T init) {
  const auto put = [&](unsigned i, vector<T> before, vector<T> behind) {
    level::store<T>(out + i * width<T>,
                    outputs<T, Op, Inclusive>(level::load(in + i * width<T>), before, behind, init));
  };
  vector<T> before = level::pick<T>(starts, 0);
  for (unsigned i = 0; i + 1 < count; ++i) {
    const vector<T> behind = level::pick<T>(starts, i + 1);
    put(i, before, behind);
    before = behind;
  }
  put(count - 1, before, end);
}

/// The prefix after a growing number of blocks of the same length, by a block stack (src/order/block_stack.hpp).
/// Integers have the same bits in any order, so for them it is a plain fold.
template <class T, class Op>
class running_prefix {
  using blocks = level::blocks<T, Op>;

 public:
  [[gnu::always_inline]] running_prefix() { prefix_[0] = level::broadcast(Op::template identity<T>()); }
  [[gnu::always_inline]] vector<T> push(vector<T> value) {
    if constexpr (std::is_integral_v<T>) return prefix_[0] = blocks::join(prefix_[0], value);
    for (unsigned bits = count_++; (bits & 1) != 0; bits >>= 1) value = blocks::join(block_[--depth_], value);
    block_[depth_] = value;
    prefix_[depth_ + 1] = blocks::join(prefix_[depth_], value);
    return prefix_[++depth_];
  }

 private:
  static constexpr unsigned most = std::is_integral_v<T> ? 1 : 12;  // small_limit is 2^12 elements
  vector<T> block_[most], prefix_[most + 1];
  unsigned depth_ = 0, count_ = 0;
};

/// Scans fewer than four vectors, one at a time: P of up to three blocks is a plain fold from the left. A separate
/// function, since the stack frame of the general one below costs as much as 16 floats.
template <class T, class Op, bool Inclusive>
[[gnu::noinline]] void one_by_one(const T* in, T* out, unsigned n, T init) {
  using blocks = level::blocks<T, Op>;
  vector<T> carry = level::broadcast(Op::template identity<T>());
  for (; n >= width<T>; n -= width<T>, in += width<T>, out += width<T>) {
    const vector<T> elements = level::load(in), end = blocks::join(carry, blocks::template complete<1>(elements));
    level::store<T>(out, outputs<T, Op, Inclusive>(elements, carry, end, init));
    carry = end;
  }
  write_rest<T, Op, Inclusive>(in, out, n, carry, init);
}

/// Writes the outputs of as many vectors as a vector has lanes, transposed: lane l of a column is an element of vector
/// l. So prefixes within vectors need no shuffles; only the prefixes between vectors, which are fewer, do.
template <class T, class Op, bool Inclusive>
[[gnu::always_inline]] inline void write_block(const T* in, T* out, running_prefix<T, Op>& done, vector<T>& carry,
                                               vector<T> init) {
  using blocks = level::blocks<T, Op>;
  vector<T> column[width<T>], prefix[width<T> + 1];
#pragma GCC unroll 16
  for (unsigned i = 0; i < width<T>; ++i) column[i] = level::load(in + i * width<T>);
  level::transpose<T>(column);
  const vector<T> values = blocks::template tree<width<T>>(column), starts = blocks::prefixes(values, carry);
  carry = done.push(blocks::template complete<1>(values));
  blocks::template descend<width<T>>(column, starts, prefix);
  prefix[width<T>] = level::shift_down<T>(starts, carry);
#pragma GCC unroll 16
  for (unsigned i = 0; i < width<T>; ++i)
    column[i] = level::canonical<T>(level::apply<Op, T>(init, prefix[i + Inclusive]));
  level::transpose<T>(column);
#pragma GCC unroll 16
  for (unsigned i = 0; i < width<T>; ++i) level::store<T>(out + i * width<T>, column[i]);
}

/// Keeps all levels in registers: levels in memory cost 18 ns for 16 floats, three times as much as everything else.
template <class T, class Op, bool Inclusive>
[[gnu::noinline]] void block_by_block(const T* in, T* out, unsigned n, T init) {
  using blocks = level::blocks<T, Op>;
  constexpr unsigned block = width<T> * width<T>;
  running_prefix<T, Op> done;
  vector<T> carry = level::broadcast(Op::template identity<T>());
  for (; n >= block; n -= block, in += block, out += block)
    write_block<T, Op, Inclusive>(in, out, done, carry, level::broadcast(init));
  if (const unsigned count = n / width<T>; count != 0) {
    const vector<T> starts = blocks::prefixes(blocks::some_values(in, count), carry);
    carry = level::pick<T>(starts, count);
    write_few<T, Op, Inclusive>(in, out, count, starts, carry, init);
    in += count * width<T>, out += count * width<T>, n -= count * width<T>;
  }
  write_rest<T, Op, Inclusive>(in, out, n, carry, init);
}

/// Scans 64-bit integers without vectors: they have the same bits in any order, and gain nothing from vectors. Loads
/// four before it stores the first: when each load followed a store, it waited for the store and took three times as
/// long.
template <class T, class Op, bool Inclusive>
void one_after_another(const T* in, T* out, std::uint64_t n, T left) {
  constexpr std::uint64_t most = 4;
  for (; n >= most; n -= most, in += most, out += most) {
    T prefix[most + 1] = {left};
    for (std::uint64_t i = 0; i < most; ++i) prefix[i + 1] = Op::template apply<T>(prefix[i], in[i]);
    for (std::uint64_t i = 0; i < most; ++i) out[i] = prefix[i + Inclusive];
    left = prefix[most];
  }
  for (std::uint64_t i = 0; i < n; ++i) {
    const T next = Op::template apply<T>(left, in[i]);
    out[i] = Inclusive ? next : left;
    left = next;
  }
}

template <class T, class Op>
void small(const T* in, T* out, std::uint64_t n, const T* init, bool inclusive) {
  const T left = init == nullptr ? Op::template identity<T>() : *init;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return inclusive ? one_after_another<T, Op, true>(in, out, n, left)
                     : one_after_another<T, Op, false>(in, out, n, left);
  const unsigned count = static_cast<unsigned>(n);
  if (n < 4 * width<T>)
    inclusive ? one_by_one<T, Op, true>(in, out, count, left) : one_by_one<T, Op, false>(in, out, count, left);
  else
    inclusive ? block_by_block<T, Op, true>(in, out, count, left) : block_by_block<T, Op, false>(in, out, count, left);
}

template <class T, class Op>
constexpr cpu_kernels<T> kernels_of{descend<T, Op>, small<T, Op>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(op operation) {
  return order::with_operator(operation, []<class Op>(Op) -> const cpu_kernels<T>& { return kernels_of<T, Op>; });
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::scan::TILEWISE_LEVEL
