// SPDX-License-Identifier: Apache-2.0
// The pairwise order with vectors: an upsweep computes block values, a downsweep computes prefixes. Only for an
// algorithm's cpu/*kernels.cpp.
//
// Level 0 is the input. An element of level j + 1 is the value of one whole vector of level j, which has W lanes. So
// each level is smaller by a factor of W. The last one has fewer than W elements. Levels 1, 2, ... are stored one after
// another in a scratch array. The rest at the end of a level, less than a vector, is in no element of the next level:
// no prefix needs that.
//
// A "source" of elements is a pointer, or any type with `source + elements`, load, load_first and fetch.
#pragma once

#include "backend/cpu/levels.hpp"
#include "backend/cpu/vector.hpp"

namespace tilewise::backend::cpu::TILEWISE_LEVEL {

/// Prefetches the element `further` elements past `from`.
template <class T>
void fetch(const T* from, std::uint64_t further) {
  __builtin_prefetch(from + further);
}

/// How vectors are read: in the compiler's order, in the order of addresses, or with later ones prefetched.
enum class reading { freely, in_turn, ahead };

template <class T, class Op>
struct blocks {
  using vector = cpu::TILEWISE_LEVEL::vector<T>;
  static constexpr unsigned width = lanes<T>;

  static vector join(vector a, vector b) { return apply<Op, T>(a, b); }

  /// The block of Count vectors, separately in each lane.
  template <unsigned Count>
  [[gnu::always_inline]] static vector tree(const vector* x) {
    if constexpr (Count == 1)
      return x[0];
    else
      return join(tree<Count / 2>(x), tree<Count / 2>(x + Count / 2));
  }

  /// The prefix before each lane. First the values of blocks of 1, 2, 4, ... lanes are computed; then, from the carry
  /// down, each lane in the right block of a pair adds the value of the left block.
  template <unsigned Distance = 1>
  [[gnu::always_inline]] static vector prefixes(vector values, vector carry) {
    if constexpr (Distance == width) {
      return carry;
    } else {
      const vector other = swap<Distance, T>(values);
      const vector start = prefixes<2 * Distance>(join(values, other), carry);
      return blend<Distance, T>(start, join(start, other));
    }
  }

  /// The prefixes before each of Count vectors, separately in each lane; `before` is the one before the first vector.
  template <unsigned Count>
  [[gnu::always_inline]] static void descend(const vector* x, vector before, vector* prefixes) {
    if constexpr (Count == 1) {
      prefixes[0] = before;
    } else {
      descend<Count / 2>(x, before, prefixes);
      descend<Count / 2>(x + Count / 2, join(before, tree<Count / 2>(x)), prefixes + Count / 2);
    }
  }

  /// How many vectors ahead prefetching is.
  static constexpr std::uint64_t lead = 8192 / vector_bytes;

  template <reading How, class Source>
  [[gnu::always_inline]] static vector read(Source from) {
    if constexpr (How == reading::ahead) fetch(from, lead * width);
    return How == reading::in_turn ? in_turn<T>(load(from)) : load(from);
  }

  /// Reduces Count vectors to one by adding neighbours: lane l is a sum over Count lanes of vector l % Count.
  template <unsigned Count, reading How, class Source>
  [[gnu::always_inline]] static vector interleaved(Source from) {
    if constexpr (Count == 1) {
      return read<How>(from);
    } else {
      const vector a = interleaved<Count / 2, How>(from);
      const vector b = interleaved<Count / 2, How>(from + Count / 2 * width);
      return join(blend<Count / 2, T>(a, b), swap_blend<Count / 2, T>(a, b));
    }
  }

  /// The same for as many vectors as lanes, with the lanes in order only at the end. Needs fewer instructions without
  /// AVX-512.
  template <unsigned Count, reading How, class Source>
  [[gnu::always_inline]] static vector paired(Source from) {
    if constexpr (Count == 1) {
      return read<How>(from);
    } else {
      constexpr int distance = Count / 2;
      const vector a = paired<distance, How>(from), b = paired<distance, How>(from + distance * width);
      return join(of_pairs<distance, 0, T>(a, b), of_pairs<distance, 1, T>(a, b));
    }
  }

  /// Lane l is the value of vector l % Count.
  template <unsigned Count, reading How = reading::freely, class Source>
  [[gnu::always_inline]] static vector values(Source from) {
    if constexpr (Count == width && vector_bytes < 64) return paired<Count, How>(from);
    return complete<Count>(interleaved<Count, How>(from));
  }
  template <unsigned Distance, unsigned End = width>
  [[gnu::always_inline]] static vector complete(vector v) {
    if constexpr (Distance == End)
      return v;
    else
      return complete<2 * Distance, End>(join(v, swap<Distance, T>(v)));
  }

  /// Lane l is the value of vector l for l < count < width; the other lanes may hold anything.
  template <unsigned Count = width / 2, class Source>
  static vector some_values(Source from, unsigned count, vector before = vector{}, unsigned first = 0) {
    if constexpr (Count == 0) {
      return before;
    } else {
      if ((count & Count) != 0) {
        const auto is_mine = lane_numbers<T>() >= static_cast<mask_lane<T>>(first);
        before = is_mine ? values<Count>(from + first * width) : before;
        first += Count;
      }
      return some_values<Count / 2>(from, count, before, first);
    }
  }

  /// The next level above a source, as a source: each element is the value of a whole vector.
  template <class Source>
  struct level_above {
    Source from;
    friend level_above operator+(level_above source, std::uint64_t elements) {
      return {source.from + elements * width};
    }
    friend vector load(level_above source) { return values<width>(source.from); }
  };

  /// The largest block, in vectors, that is computed without a loop: two levels, unless that is too much code.
  static constexpr unsigned most_at_once = width * width < 64 ? width * width : 64;

  /// The block of Count vectors, in every lane.
  template <unsigned Count, class Source>
  [[gnu::always_inline]] static vector block(Source from) {
    if constexpr (Count <= width)
      return complete<1, Count>(values<Count>(from));
    else
      return complete<1, Count / width>(values<Count / width>(level_above<Source>{from}));
  }

  /// `first` followed by P of `count` < 2 * Count vectors, in every lane. The binary digits of `count` are whole
  /// blocks.
  template <unsigned Count = most_at_once, class Source>
  [[gnu::always_inline]] static vector fold_vectors(Source from, std::uint64_t count, vector first) {
    if constexpr (Count == 0) {
      return first;
    } else {
      if ((count & Count) != 0) {
        first = join(first, block<Count>(from));
        from = from + Count * width;
      }
      return fold_vectors<Count / 2>(from, count, first);
    }
  }

  /// A block stack (src/order/block_stack.hpp) for each lane.
  class stack {
   public:
    [[gnu::always_inline]] void push(vector value) {
      for (std::uint64_t bits = count_++; (bits & 1) != 0; bits >>= 1) value = join(block_[--depth_], value);
      block_[depth_++] = value;
    }
    [[gnu::always_inline]] vector fold(vector prefix) const {
      for (unsigned i = 0; i < depth_; ++i) prefix = join(prefix, block_[i]);
      return prefix;
    }

   private:
    vector block_[64];
    unsigned depth_ = 0;
    std::uint64_t count_ = 0;
  };

  /// P of any number of vectors. Not inlined: the stack's frame takes as much time as 16 floats.
  template <class Source>
  [[gnu::noinline]] static T fold_by_stack(Source from, std::uint64_t count) {
    stack done;
    for (; count >= most_at_once; count -= most_at_once, from = from + most_at_once * width)
      done.push(block<most_at_once>(from));
    return fold_vectors<most_at_once / 2>(from, count, done.fold(broadcast(Op::template identity<T>())))[0];
  }

  /// The same for integers, whose bits do not depend on the order: each lane combines its own elements.
  template <class Source>
  [[gnu::always_inline]] static vector fold_lanes(Source from, std::uint64_t count) {
    constexpr unsigned chains = 4;  // so that the latency of an addition does not limit the two loads per cycle
    vector folded[chains];
    for (vector& f : folded) f = broadcast(Op::template identity<T>());
    for (; count >= chains; count -= chains, from = from + chains * width)
      for (unsigned i = 0; i < chains; ++i) folded[i] = join(folded[i], load(from + i * width));
    for (; count != 0; --count, from = from + width) folded[0] = join(folded[0], load(from));
    return complete<1>(tree<chains>(folded));
  }

  /// P(n) in every lane, without memory for the levels: allocating that took 13 ns for 64 floats, twice the rest of a
  /// call.
  template <class Source>
  [[gnu::always_inline]] static vector prefix_of_few(Source from, std::uint64_t n) {
    const std::uint64_t vectors = n / width;
    const unsigned rest = static_cast<unsigned>(n % width);
    vector prefix;
    if constexpr (std::is_integral_v<T>)
      prefix = fold_lanes(from, vectors);
    else if (vectors < 2 * most_at_once)
      prefix = fold_vectors(from, vectors, broadcast(Op::template identity<T>()));
    else
      prefix = broadcast(fold_by_stack(from, vectors));
    return rest == 0 ? prefix : pick<T>(prefixes(load_first(from + vectors * width, rest), prefix), rest);
  }

  /// How many blocks are joined before a push: with short vectors, joining takes less time than a push.
  static constexpr unsigned at_once = vector_bytes < 64 ? 4 : 1;
  template <unsigned Blocks, reading How, class Whole>
  [[gnu::always_inline]] static vector values_of(const Whole& whole, std::uint64_t c) {
    if constexpr (Blocks == 1)
      return values<width, How>(whole(c));
    else
      return join(values_of<Blocks / 2, How>(whole, c), values_of<Blocks / 2, How>(whole, c + Blocks / 2 * width));
  }

  /// P(n) of `width` rows at once, one per lane, preceded by `prefix`. `whole(c)` is the source of the columns from c
  /// on; its vector i belongs to row i. `part(c, count)` has only `count` columns, and the identity in the other lanes.
  template <reading How = reading::freely, class Whole, class Part>
  [[gnu::always_inline]] static vector prefixes_of_rows(std::uint64_t n, const Whole& whole, const Part& part,
                                                        vector prefix = broadcast(Op::template identity<T>())) {
    stack done;
    std::uint64_t c = 0;
    for (; c + at_once * width <= n; c += at_once * width) done.push(values_of<at_once, How>(whole, c));
    prefix = done.fold(prefix);
    for (unsigned digit = at_once / 2; digit != 0; digit /= 2) {
      if ((n / width & digit) == 0) continue;
      prefix = join(prefix, digit == 1 ? values_of<1, How>(whole, c) : values_of<2, How>(whole, c));
      c += digit * width;
    }
    for (unsigned digit = width / 2; digit != 0; digit /= 2) {
      if ((n & digit) == 0) continue;
      prefix = join(prefix, values<width, How>(part(c, digit)));
      c += digit;
    }
    return prefix;
  }

  /// Elements to allocate for a level of `count` elements and one more, rounded to whole vectors.
  static constexpr std::uint64_t room(std::uint64_t count) { return (count / width + 1) * width; }

  static std::uint64_t scratch_elements(std::uint64_t n) {
    std::uint64_t sum = 0;
    for (n /= width; n != 0; n /= width) sum += room(n);
    return sum + width;
  }

  /// The values of `count` vectors. The caller reads the `next` vectors after them soon, so they may be prefetched.
  template <class Source>
  [[gnu::always_inline]] static void upsweep_vectors(Source from, std::uint64_t count, T* level, std::uint64_t next) {
    const std::uint64_t known = !gains_by_fetching() || count + next < lead ? 0 : count + next - lead;
    std::uint64_t i = 0;
    for (; i + width <= (known < count ? known : count); i += width)
      store<T>(level + i, values<width, reading::ahead>(from + i * width));
    for (; i + width <= count; i += width) store<T>(level + i, values<width, reading::in_turn>(from + i * width));
    if (i != count) store<T>(level + i, some_values(from + i * width, static_cast<unsigned>(count - i)));
  }

  /// Levels 1, 2, ... of n elements.
  static void upsweep(const T* from, std::uint64_t n, T* level) {
    while (n >= width) {
      n /= width;
      upsweep_vectors(from, n, level, 0);
      from = level;
      level += room(n);
    }
  }

  /// `first` followed by P(n) of the `n` elements at `from`, with the levels that upsweep made. Functions that are not
  /// inlined, like this one, take no vectors as arguments: gcc would then omit vzeroupper, and later SSE code was
  /// measured at a tenth of its speed.
  template <class Source>
  static T fold(Source from, std::uint64_t n, const T* level, T first) {
    if (n >= width) first = fold(level, n / width, level + room(n / width), first);
    const unsigned rest = static_cast<unsigned>(n % width);
    if (rest == 0) return first;
    T prefix[width];
    store<T>(prefix, prefixes(load_first(from + (n - rest), rest), broadcast(first)));
    return prefix[rest];
  }

  /// Replaces the `count` elements of a level by the prefixes before them and appends the prefix after the last one. If
  /// the level is a whole tile, that prefix is `*next`: the prefix after a tile depends on the tiles before it.
  static void downsweep(T* level, std::uint64_t count, T carry, const T* next) {
    if (count < width) {
      store<T>(level, prefixes(load(level), broadcast(carry)));
      if (next != nullptr) level[count] = *next;
      return;
    }
    T* const above = level + room(count);
    downsweep(above, count / width, carry, next);
    for (std::uint64_t i = 0; i * width < count; ++i)
      store<T>(level + i * width, prefixes(load(level + i * width), broadcast(above[i])));
    if (count % width == 0) level[count] = above[count / width];
  }
};

}  // namespace tilewise::backend::cpu::TILEWISE_LEVEL
