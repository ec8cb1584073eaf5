// SPDX-License-Identifier: Apache-2.0
// What:   the steps of a radix sort on one tile; compiled once for each x86-64 level.
// Order:  by code (sort_code.hpp); a scatter keeps the order of equal digits, an insertion that of equal codes.
// Shape:  keys are encoded one block at a time; a scatter collects a cache line for each digit before it writes one.
// Limits: fewer than 2^32 elements in a tile; outputs are not the inputs, but insertion works in place.
// Twins:  sort_serial.cpp.
#include "sort/sort_cpu_radix_kernels.hpp"

#include "backend/cpu/cpu_vector.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

/// Keys that are encoded at once, with vectors, and stay in the first-level cache.
constexpr std::uint64_t block = 256;

template <class Bits>
[[gnu::always_inline]] inline void encode(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* codes) {
  for (std::uint64_t i = 0; i < n; ++i) codes[i] = code.encode(keys[i]);
}

template <class Bits>
common_bits<Bits> common(const Bits* keys, std::uint64_t n, sort_code<Bits> code) {
  common_bits<Bits> bits{0, ~Bits(0)};
  for (std::uint64_t i = 0; i < n; ++i) {
    const Bits c = code.encode(keys[i]);
    bits.any |= c;
    bits.all &= c;
  }
  return bits;
}

/// Four tables: neighbours often have the same digit, and adding to one counter twice in a row waits for the first.
template <class Bits>
void count(const Bits* keys, std::uint64_t n, sort_code<Bits> code, digit<Bits> by, std::uint64_t* counts) {
  constexpr unsigned tables = 4;
  std::uint32_t table[tables << widest_digit];
  __builtin_memset(table, 0, sizeof(std::uint32_t) * tables << by.width);
  Bits codes[block];
  for (std::uint64_t begin = 0; begin < n; begin += block) {
    const std::uint64_t length = n - begin < block ? n - begin : block;
    encode(keys + begin, length, code, codes);
    std::uint64_t i = 0;
    for (; i + tables <= length; i += tables)
      for (unsigned t = 0; t < tables; ++t) ++table[(t << by.width) + by.of(codes[i + t])];
    for (; i < length; ++i) ++table[by.of(codes[i])];
  }
  for (unsigned d = 0; d < by.values(); ++d)
    for (unsigned t = 0; t < tables; ++t) counts[d] += table[(t << by.width) + d];
}

/// sort_code::decode of one code and of whole vectors, which gcc does not find by itself.
template <class Bits>
struct decoding {
  sort_code<Bits> code;

  [[gnu::always_inline]] Bits operator()(Bits c) const { return code.decode(c); }
  [[gnu::always_inline]] level::vector<Bits> all(level::vector<Bits> codes) const {
    using signs = level::vector<level::mask_lane<Bits>>;
    const auto flipped = (codes ^ level::broadcast(code.complement)) + level::broadcast(code.wrapped);
    const auto negative = (signs)(flipped ^ level::broadcast(code.of_positive)) < 0;
    return flipped ^ (negative ? level::broadcast(code.of_negative) : level::broadcast(code.of_positive));
  }
};

/// Values stay as they are.
template <class Value>
struct keeping {
  [[gnu::always_inline]] Value operator()(Value v) const { return v; }
  [[gnu::always_inline]] level::vector<Value> all(level::vector<Value> v) const { return v; }
};

/// One array on its way out: for each digit the cache line that its next elements belong to.
template <class T>
class line_writer {
 public:
  static constexpr std::uint64_t slots = cache_line / sizeof(T);

  line_writer(T* out, std::byte* lines, bool stream)
      : out_(out),
        lines_(reinterpret_cast<T*>(lines)),
        misaligned_(reinterpret_cast<std::uintptr_t>(out) % cache_line / sizeof(T)),
        stream_(stream) {}

  /// `place` is that of the value; those of a digit follow each other from `first` on.
  template <class Decode>
  [[gnu::always_inline]] void put(unsigned d, std::uint64_t place, T value, const std::uint64_t* first, Decode decode) {
    const std::uint64_t slot = (place + misaligned_) % slots;
    T* const line = lines_ + d * slots;
    if (slot == slots - 1 && place - first[d] >= slots - 1)
      return write_line(out_ + (place - (slots - 1)), line, value, decode);
    line[slot] = value;
    if (slot == slots - 1) write_some(d, first[d], place + 1, decode);
  }

  /// What is left in the line of a digit whose next place is `end`.
  template <class Decode>
  [[gnu::always_inline]] void finish(unsigned d, std::uint64_t first, std::uint64_t end, Decode decode) {
    const std::uint64_t filled = (end + misaligned_) % slots;
    write_some(d, end - first < filled ? first : end - filled, end, decode);
  }

 private:
  /// A line whose last value has not been stored yet: loading a vector that was stored just now is slow, and waiting
  /// for it took half of a pass.
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
  template <class Decode>
  [[gnu::always_inline]] void write_some(unsigned d, std::uint64_t begin, std::uint64_t end, Decode decode) const {
    for (std::uint64_t i = begin; i < end; ++i) out_[i] = decode(lines_[d * slots + (i + misaligned_) % slots]);
  }

  T* out_;
  T* lines_;
  std::uint64_t misaligned_;
  bool stream_;
};

/// Calls move(code, index) for each element of the task, in order.
template <class Bits, class Value, class Move>
[[gnu::always_inline]] inline void for_each_code(const scatter_task<Bits, Value>& task, Move move) {
  Bits codes[block];
  for (std::uint64_t begin = task.begin; begin < task.end; begin += block) {
    const std::uint64_t length = task.end - begin < block ? task.end - begin : block;
    encode(task.keys + begin, length, task.before, codes);
    for (std::uint64_t i = 0; i < length; ++i) move(codes[i], begin + i);
  }
}

template <class Bits, class Value>
[[gnu::always_inline]] inline Value value_of(const scatter_task<Bits, Value>& task, std::uint64_t index) {
  return task.values != nullptr ? task.values[index] : static_cast<Value>(index);
}

template <class Bits, class Value>
void scatter_lines(const scatter_task<Bits, Value>& task, std::uint64_t* next) {
  const digit<Bits> by = task.by;
  const auto* const first = task.first;
  std::byte* const lines = task.scratch + by.values() * sizeof(std::uint64_t);
  const decoding<Bits> decode{task.after};
  line_writer<Bits> keys(task.out.keys, lines, task.stream);
  using value_type = std::conditional_t<moves<Value>, Value, Bits>;
  const keeping<value_type> keep;
  line_writer<value_type> values(reinterpret_cast<value_type*>(task.out.values), lines + by.values() * cache_line,
                                 task.stream);
  for_each_code(
      task, [&](Bits code, std::uint64_t index) __attribute__((always_inline)) {
        const unsigned d = by.of(code);
        const std::uint64_t place = next[d]++;
        keys.put(d, place, code, first, decode);
        if constexpr (moves<Value>) values.put(d, place, value_of(task, index), first, keep);
      });
  for (unsigned d = 0; d < by.values(); ++d) {
    keys.finish(d, first[d], next[d], decode);
    if constexpr (moves<Value>) values.finish(d, first[d], next[d], keep);
  }
  if (task.stream) _mm_sfence();
}

template <class Bits, class Value>
void scatter_elements(const scatter_task<Bits, Value>& task, std::uint64_t* next) {
  for_each_code(
      task, [&](Bits code, std::uint64_t index) __attribute__((always_inline)) {
        const std::uint64_t place = next[task.by.of(code)]++;
        task.out.keys[place] = task.after.decode(code);
        if constexpr (moves<Value>) task.out.values[place] = value_of(task, index);
      });
}

template <class Bits, class Value>
void scatter(const scatter_task<Bits, Value>& task) {
  auto* const next = reinterpret_cast<std::uint64_t*>(task.scratch);
  for (unsigned d = 0; d < task.by.values(); ++d) next[d] = task.first[d];
  if (task.combine)
    scatter_lines(task, next);
  else
    scatter_elements(task, next);
}

/// Whether an element of [begin, end) is less than its left neighbour.
template <class Bits>
[[gnu::always_inline]] inline bool has_descent(const Bits* keys, std::uint64_t begin, std::uint64_t end,
                                               sort_code<Bits> code) {
  Bits found = 0;
  for (std::uint64_t i = begin; i < end; ++i) found |= code.encode(keys[i]) < code.encode(keys[i - 1]) ? 1 : 0;
  return found != 0;
}

/// Moves element i to its place among those of [begin, i), which are sorted; returns how many it passed.
template <class Bits, class Value>
[[gnu::always_inline]] inline std::uint64_t insert_one(elements<Bits, Value> where, std::uint64_t begin,
                                                       std::uint64_t i, sort_code<Bits> code) {
  const Bits key = where.keys[i], mine = code.encode(key);
  std::uint64_t to = i;
  for (; to > begin && mine < code.encode(where.keys[to - 1]); --to) where.keys[to] = where.keys[to - 1];
  if (to == i) return 0;
  where.keys[to] = key;
  if constexpr (moves<Value>) {
    const Value value = where.values[i];
    for (std::uint64_t k = i; k > to; --k) where.values[k] = where.values[k - 1];
    where.values[to] = value;
  }
  return i - to;
}

template <class Bits, class Value>
bool insert(elements<Bits, Value> where, std::uint64_t begin, std::uint64_t end, sort_code<Bits> code,
            std::uint64_t most_moves) {
  constexpr std::uint64_t chunk = 64;
  std::uint64_t total = 0;
  for (std::uint64_t i = begin + 1; i < end; i += chunk) {
    const std::uint64_t chunk_end = end - i < chunk ? end : i + chunk;
    if (!has_descent(where.keys, i, chunk_end, code)) continue;
    for (std::uint64_t k = i; k < chunk_end; ++k) {
      total += insert_one(where, begin, k, code);
      if (total > most_moves) return false;
    }
  }
  return true;
}

}  // namespace

template <class Bits>
const radix_key_kernels<Bits>& key_kernels() {
  static constexpr radix_key_kernels<Bits> table{common<Bits>, count<Bits>};
  return table;
}

template <class Bits, class Value>
const radix_kernels<Bits, Value>& kernels() {
  static constexpr radix_kernels<Bits, Value> table{scatter<Bits, Value>, insert<Bits, Value>};
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
