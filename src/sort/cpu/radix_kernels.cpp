// SPDX-License-Identifier: Apache-2.0
// What:   the steps of a radix sort on one tile; compiled once for each x86-64 level.
// Order:  by code (code.hpp); a scatter keeps the order of equal digits, an insertion that of equal codes.
// Shape:  keys are encoded one block at a time; a scatter collects a cache line for each digit before it writes one.
// Limits: fewer than 2^32 elements in a tile; outputs are not the inputs, but insertion works in place.
// Twins:  serial.cpp.
#include "sort/cpu/radix_kernels.hpp"

#include "sort/cpu/radix_steps.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace {

/// How many keys are encoded at once, with vectors. Their codes stay in the first-level cache.
constexpr std::uint64_t block = 256;

template <class Bits>
[[gnu::always_inline]] inline void add_to(common_bits<Bits>& bits, const Bits* codes, std::uint64_t n) {
  Bits any = bits.any, all = bits.all;
  for (std::uint64_t i = 0; i < n; ++i) {
    any |= codes[i];
    all &= codes[i];
  }
  bits = {any, all};
}

/// Calls use(codes, begin, length) for the codes of [begin, end), block by block.
template <class Bits, class Use>
[[gnu::always_inline]] inline void for_each_block(const Bits* keys, std::uint64_t begin, std::uint64_t end,
                                                  sort_code<Bits> code, Use use) {
  Bits codes[block];
  for (; begin < end; begin += block) {
    const std::uint64_t length = end - begin < block ? end - begin : block;
    encode(keys + begin, length, code, codes);
    use(codes, begin, length);
  }
}

template <class Bits>
common_bits<Bits> common(const Bits* keys, std::uint64_t n, sort_code<Bits> code) {
  common_bits<Bits> bits{0, ~Bits(0)};
  for_each_block(
      keys, 0, n, code, [&](const Bits* codes, std::uint64_t, std::uint64_t length) __attribute__((always_inline)) {
        add_to(bits, codes, length);
      });
  return bits;
}

/// The number of tables of counters. Neighbours often have the same digit, and the second of two additions to one
/// counter waits for the first. Wide digits use fewer tables, so that all stay in the first-level cache.
template <class By>
class digit_counter {
 public:
  explicit digit_counter(const By& by) : by_(by) {
    __builtin_memset(table_, 0, sizeof(std::uint32_t) * tables * by.values());
  }
  template <class Bits>
  [[gnu::always_inline]] void add(const Bits* codes, std::uint64_t n) {
    std::uint64_t i = 0;
    for (; i + tables <= n; i += tables)
      for (unsigned t = 0; t < tables; ++t) ++table_[t * by_.values() + by_.of(codes[i + t])];
    for (; i < n; ++i) ++table_[by_.of(codes[i])];
  }
  [[gnu::always_inline]] void add_to(std::uint64_t* counts) const {
    for (unsigned d = 0; d < by_.values(); ++d)
      for (unsigned t = 0; t < tables; ++t) counts[d] += table_[t * by_.values() + d];
  }

 private:
  static constexpr unsigned tables = By::most_values > 2048 ? 2 : 4;
  const By by_;
  std::uint32_t table_[tables * By::most_values];
};

template <class Bits>
void count(const Bits* keys, std::uint64_t n, sort_code<Bits> code, const digit<Bits>& by, std::uint64_t* counts) {
  digit_counter<digit<Bits>> counter(by);
  for_each_block(
      keys, 0, n, code, [&](const Bits* codes, std::uint64_t, std::uint64_t length) __attribute__((always_inline)) {
        counter.add(codes, length);
      });
  counter.add_to(counts);
}

template <class Bits>
common_bits<Bits> count_buckets(const Bits* keys, std::uint64_t n, sort_code<Bits> code, const splits<Bits>& by,
                                std::uint64_t* counts) {
  common_bits<Bits> bits{0, ~Bits(0)};
  digit_counter<splits<Bits>> counter(by);
  for_each_block(
      keys, 0, n, code, [&](const Bits* codes, std::uint64_t, std::uint64_t length) __attribute__((always_inline)) {
        add_to(bits, codes, length);
        counter.add(codes, length);
      });
  counter.add_to(counts);
  return bits;
}

/// An output array that is written line by line: for each digit, the cache line to which its next elements belong.
template <class T>
class line_writer {
 public:
  static constexpr unsigned slots = cache_line / sizeof(T);

  line_writer(T* out, std::byte* lines, bool stream)
      : out_(out),
        lines_(reinterpret_cast<T*>(lines)),
        misaligned_(reinterpret_cast<std::uintptr_t>(out) % cache_line / sizeof(T)),
        stream_(stream) {}

  [[gnu::always_inline]] T* line_of(unsigned d) const { return lines_ + d * slots; }
  [[gnu::always_inline]] unsigned slot_of(std::uint64_t place) const {
    return static_cast<unsigned>((place + misaligned_) % slots);
  }
  /// Writes a full line. `last` is its last element and has the given place; elements of this digit begin at `first`.
  /// `last` is passed separately, since loading a vector right after a store to it is slow: waiting for that took half
  /// of a pass.
  template <class Decode>
  [[gnu::always_inline]] void fill(unsigned d, std::uint64_t first, std::uint64_t place, T last, Decode decode) const {
    if (place - first >= slots - 1) return write_line(out_ + (place - (slots - 1)), line_of(d), last, decode);
    write_some(d, first, place, decode);
    out_[place] = decode(last);
  }
  /// Writes the rest of the line of a digit whose next place is `end`.
  template <class Decode>
  [[gnu::always_inline]] void finish(unsigned d, std::uint64_t first, std::uint64_t end, Decode decode) const {
    const unsigned filled = slot_of(end);
    write_some(d, end - first < filled ? first : end - filled, end, decode);
  }

 private:
  template <class Decode>
  [[gnu::always_inline]] void write_line(T* to, const T* line, T last, Decode decode) const {
    constexpr unsigned lanes = level::lanes<T>;
    for (unsigned i = 0; i < slots; i += lanes) {
      auto values = level::load(line + i);
      if (i + lanes == slots) values[lanes - 1] = last;
      if (stream_)
        level::stream<T>(to + i, decode.all(values));
      else
        level::store<T>(to + i, decode.all(values));
    }
  }
  /// Not inlined: it is rare, and in the loop it would take registers.
  template <class Decode>
  [[gnu::noinline]] void write_some(unsigned d, std::uint64_t begin, std::uint64_t end, Decode decode) const {
    for (std::uint64_t i = begin; i < end; ++i) out_[i] = decode(line_of(d)[slot_of(i)]);
  }

  T* out_;
  T* lines_;
  std::uint64_t misaligned_;
  bool stream_;
};

/// Calls move(code, index) for each element of the task, in order.
template <class Bits, class Value, class By, class Move>
[[gnu::always_inline]] inline void for_each_code(const scatter_task<Bits, Value, By>& task, Move move) {
  for_each_block(
      task.keys, task.begin, task.end,
      task.before, [&](const Bits* codes, std::uint64_t begin, std::uint64_t length) __attribute__((always_inline)) {
        for (std::uint64_t i = 0; i < length; ++i) move(codes[i], begin + i);
      });
}

template <class Bits, class Value, class By>
[[gnu::always_inline]] inline Value value_of(const scatter_task<Bits, Value, By>& task, std::uint64_t index) {
  return task.values != nullptr ? task.values[index] : static_cast<Value>(index);
}

/// The last slot of a line of keys holds the low bits of its digit's next place. It is free, since a key that belongs
/// there completes the line, which is then written at once. So an element touches one line; a separate counter would be
/// a second one.
template <class Bits, class Value, class By>
void scatter_lines(const scatter_task<Bits, Value, By>& task) {
  const By by = task.by;
  const auto* const first = task.first;
  const decoding<Bits> decode{task.after};
  const line_writer<Bits> keys(task.out.keys, task.scratch, task.stream);
  using value_type = std::conditional_t<moves<Value>, Value, Bits>;
  const keeping<value_type> keep;
  const line_writer<value_type> values(reinterpret_cast<value_type*>(task.out.values),
                                       task.scratch + by.values() * cache_line, task.stream);
  constexpr unsigned last = keys.slots - 1, last_value = values.slots - 1;
  const auto all_bits = [first](unsigned d, Bits place) __attribute__((always_inline)) {
    return first[d] + static_cast<Bits>(place - static_cast<Bits>(first[d]));
  };
  for (unsigned d = 0; d < by.values(); ++d) keys.line_of(d)[last] = static_cast<Bits>(first[d]);
  for_each_code(
      task, [&](Bits code, std::uint64_t index) __attribute__((always_inline)) {
        const unsigned d = by.of(code);
        Bits* const line = keys.line_of(d);
        const Bits place = line[last];
        const unsigned slot = keys.slot_of(place);
        if (slot == last)
          keys.fill(d, first[d], all_bits(d, place), code, decode);
        else
          line[slot] = code;
        line[last] = place + 1;
        if constexpr (moves<Value>) {
          const Value value = value_of(task, index);
          const unsigned value_slot = values.slot_of(place);
          if (value_slot == last_value)
            values.fill(d, first[d], all_bits(d, place), value, keep);
          else
            values.line_of(d)[value_slot] = value;
        }
      });
  for (unsigned d = 0; d < by.values(); ++d) {
    const std::uint64_t end = all_bits(d, keys.line_of(d)[last]);
    keys.finish(d, first[d], end, decode);
    if constexpr (moves<Value>) values.finish(d, first[d], end, keep);
  }
  if (task.stream) _mm_sfence();
}

template <class Bits, class Value, class By>
void scatter_elements(const scatter_task<Bits, Value, By>& task) {
  auto* const next = reinterpret_cast<std::uint64_t*>(task.scratch);
  for (unsigned d = 0; d < task.by.values(); ++d) next[d] = task.first[d];
  for_each_code(
      task, [&](Bits code, std::uint64_t index) __attribute__((always_inline)) {
        const std::uint64_t place = next[task.by.of(code)]++;
        task.out.keys[place] = task.after.decode(code);
        if constexpr (moves<Value>) task.out.values[place] = value_of(task, index);
      });
}

template <class Bits, class Value, class By>
void scatter(const scatter_task<Bits, Value, By>& task) {
  if (task.combine)
    scatter_lines(task);
  else
    scatter_elements(task);
}

template <class Bits, class Value>
bool insert(elements<Bits, Value> where, std::uint64_t begin, std::uint64_t end, sort_code<Bits> code,
            std::uint64_t most_moves) {
  return insert_all(where, begin, end, code, most_moves);
}

}  // namespace

template <class Bits>
const radix_key_kernels<Bits>& key_kernels() {
  static constexpr radix_key_kernels<Bits> table{common<Bits>, count<Bits>, count_buckets<Bits>};
  return table;
}

template <class Bits, class Value>
const radix_kernels<Bits, Value>& kernels() {
  static constexpr radix_kernels<Bits, Value> table{scatter<Bits, Value, digit<Bits>>,
                                                    scatter<Bits, Value, splits<Bits>>, insert<Bits, Value>};
  return table;
}

#define TILEWISE_INSTANTIATE(Bits)                                                   \
  template const radix_key_kernels<Bits>& key_kernels<Bits>();                       \
  template const radix_kernels<Bits, nothing>& kernels<Bits, nothing>();             \
  template const radix_kernels<Bits, std::uint32_t>& kernels<Bits, std::uint32_t>(); \
  template const radix_kernels<Bits, std::uint64_t>& kernels<Bits, std::uint64_t>();
TILEWISE_INSTANTIATE(std::uint32_t)
TILEWISE_INSTANTIATE(std::uint64_t)

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
