// SPDX-License-Identifier: Apache-2.0
// What:   the steps of a merge sort: making short runs, and merging two runs; compiled once for each x86-64 level.
// Order:  by code (code.hpp); where codes are equal, the left one comes first.
// Shape:  short runs are sorted by rank, counted with vectors. Merges have no branch that depends on the keys. They
//         work from both ends at once: each step depends on the one before it, so two chains of steps overlap.
// Limits: runs may be made in place; a merge reads nothing that it writes.
// Twins:  serial.cpp.
#include "sort/cpu/merge_kernels.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace {

/// An element's rank is the number of elements of the run that come before it.
template <class Bits, class Value>
[[gnu::always_inline]] inline void place_by_rank(const Bits* codes, const Value* values, unsigned n,
                                                 sort_code<Bits> after, elements<Bits, Value> out) {
  Bits rank[rank_run] = {};
  for (unsigned j = 0; j < rank_run; ++j)
    for (unsigned i = 0; i < rank_run; ++i)
      rank[i] += static_cast<Bits>((codes[j] < codes[i]) | ((codes[j] == codes[i]) & (j < i)));
  for (unsigned i = 0; i < n; ++i) {
    out.keys[rank[i]] = after.decode(codes[i]);
    if constexpr (moves<Value>) out.values[rank[i]] = values[i];
  }
}

template <class Bits, class Value>
void make_runs(const Bits* keys, const Value* values, std::uint64_t first, std::uint64_t n, sort_code<Bits> before,
               sort_code<Bits> after, elements<Bits, Value> out) {
  for (std::uint64_t begin = 0; begin < n; begin += rank_run) {
    const unsigned length = static_cast<unsigned>(n - begin < rank_run ? n - begin : rank_run);
    Bits codes[rank_run];
    Value moved[rank_run];
    for (unsigned i = 0; i < rank_run; ++i) codes[i] = ~Bits(0);  // sorts after all elements, so changes no rank
    for (unsigned i = 0; i < length; ++i) {
      codes[i] = before.encode(keys[begin + i]);
      if constexpr (moves<Value>)
        moved[i] = values != nullptr ? values[begin + i] : static_cast<Value>(first + begin + i);
    }
    elements<Bits, Value> to{out.keys + begin, nullptr};
    if constexpr (moves<Value>) to.values = out.values + begin;
    place_by_rank(codes, moved, length, after, to);
  }
}

/// The state of a merge: the rest of both runs, and of the output.
template <class Bits, class Value>
struct merge_state {
  sorted_run<Bits, Value> a, b;
  elements<Bits, Value> out;

  [[gnu::always_inline]] static void drop(sorted_run<Bits, Value>& run, std::uint64_t front, std::uint64_t left) {
    run.keys += front;
    if constexpr (moves<Value>) run.values += front;
    run.n = left;
  }
  [[gnu::always_inline]] void advance(std::uint64_t count) {
    out.keys += count;
    if constexpr (moves<Value>) out.values += count;
  }
};

template <class Bits, class Value>
[[gnu::always_inline]] inline void copy_run(merge_state<Bits, Value>& s, sorted_run<Bits, Value>& run,
                                            sort_code<Bits> after) {
  for (std::uint64_t i = 0; i < run.n; ++i) s.out.keys[i] = after.decode(run.keys[i]);
  if constexpr (moves<Value>)
    for (std::uint64_t i = 0; i < run.n; ++i) s.out.values[i] = run.values[i];
  s.advance(run.n);
  run.n = 0;
}

/// Writes the first and the last `steps` elements of the output. No run may be shorter than that, so none is exhausted.
template <class Bits, class Value>
[[gnu::always_inline]] inline void merge_ends(merge_state<Bits, Value>& s, std::uint64_t steps, sort_code<Bits> after) {
  const sorted_run<Bits, Value> a = s.a, b = s.b;
  const elements<Bits, Value> out = s.out;
  std::uint64_t i = 0, p = a.n - 1, q = b.n - 1;
  const std::uint64_t last = a.n + b.n - 1;
  for (std::uint64_t k = 0; k < steps; ++k) {
    const std::uint64_t j = k - i;
    const Bits left = a.keys[i], right = b.keys[j], high_left = a.keys[p], high_right = b.keys[q];
    const bool is_right = right < left, is_high_left = high_right < high_left;
    out.keys[k] = after.decode(is_right ? right : left);
    out.keys[last - k] = after.decode(is_high_left ? high_left : high_right);
    if constexpr (moves<Value>) {
      out.values[k] = *(is_right ? b.values + j : a.values + i);
      out.values[last - k] = *(is_high_left ? a.values + p : b.values + q);
    }
    i += !is_right;
    p -= is_high_left;
    q -= !is_high_left;
  }
  s.drop(s.a, i, p + 1 - i);
  s.drop(s.b, steps - i, q + 1 - (steps - i));
  s.advance(steps);
}

template <class Bits, class Value>
[[gnu::always_inline]] inline void merge_one(merge_state<Bits, Value>& s, sort_code<Bits> after) {
  const bool is_right = *s.b.keys < *s.a.keys;
  sorted_run<Bits, Value>& from = is_right ? s.b : s.a;
  *s.out.keys = after.decode(*from.keys);
  if constexpr (moves<Value>) *s.out.values = *from.values;
  s.drop(from, 1, from.n - 1);
  s.advance(1);
}

template <class Bits, class Value>
void merge(sorted_run<Bits, Value> a, sorted_run<Bits, Value> b, sort_code<Bits> after, elements<Bits, Value> out) {
  constexpr std::uint64_t few = 4;
  merge_state<Bits, Value> s{a, b, out};
  // Decoding is a third of a merge's work, and only the last merge needs it.
  const bool stay_codes = after.is_identity();
  while (s.a.n != 0 && s.b.n != 0 && s.b.keys[0] < s.a.keys[s.a.n - 1]) {  // else the rest is already in order
    const std::uint64_t steps = s.a.n < s.b.n ? s.a.n : s.b.n;
    if (steps < few)
      merge_one(s, after);
    else if (stay_codes)
      merge_ends(s, steps, sort_code<Bits>{});
    else
      merge_ends(s, steps, after);
  }
  copy_run(s, s.a, after);
  copy_run(s, s.b, after);
}

}  // namespace

template <class Bits, class Value>
const merge_kernels<Bits, Value>& merging() {
  static constexpr merge_kernels<Bits, Value> table{make_runs<Bits, Value>, merge<Bits, Value>};
  return table;
}

#define TILEWISE_INSTANTIATE(Bits)                                                   \
  template const merge_kernels<Bits, nothing>& merging<Bits, nothing>();             \
  template const merge_kernels<Bits, std::uint32_t>& merging<Bits, std::uint32_t>(); \
  template const merge_kernels<Bits, std::uint64_t>& merging<Bits, std::uint64_t>();
TILEWISE_INSTANTIATE(std::uint32_t)
TILEWISE_INSTANTIATE(std::uint64_t)

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
