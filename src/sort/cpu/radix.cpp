// SPDX-License-Identifier: Apache-2.0
// What:   radix sort on the CPU. Long arrays are dealt to buckets that fit a cache, and sorted there. Short arrays, and
//         those whose keys are too uneven for buckets, are sorted by passes over the array.
// Order:  by code (code.hpp); every step is stable.
// Shape:  a pass counts the digits of each tile (tiles), turns the counts into places (spine) and moves the tiles'
//         elements there (finish). Input that is already sorted, or sorted in reverse, is only copied. Passes use only
//         as many digits as tell nearly all keys apart. Keys without values are sorted by vectors instead: a few keys
//         by one thread, and any number if vectors can part them (parts.hpp).
// Limits: workspace of the size of the input, and of two parts or a bucket for each worker. If the sample does not
//         represent the keys, some more passes are needed.
// Twins:  serial.cpp; the kernels are in radix_kernels.cpp, bucket_kernels.cpp and
//         vector_kernels.cpp.
#include "base/instantiate.hpp"
#include "sort/cpu/buckets.hpp"
#include "sort/cpu/methods.hpp"
#include "sort/cpu/parts.hpp"
#include "sort/cpu/vector_kernels.hpp"

#include <array>
#include <atomic>

namespace tilewise::impl::sort {

namespace {

constexpr std::array<unsigned, 4> bucket_choices{0, 1, 2, 3}, digit_choices{0, 1, 2, 3};
constexpr std::array<std::string_view, 4> bucket_words{"none", "64", "8192", "65536"};
constexpr std::array<std::string_view, 4> digit_words{"chosen", "6", "8", "11"};  // bits
constexpr std::array<unsigned, 3> tile_lengths{4096, 32768, 262144};
constexpr std::array<unsigned, 2> key_choices{0, 1};
constexpr std::array<std::string_view, 2> key_words{"vectors", "digits"};
/// `bucket`: elements of a bucket on average. `digit`: bits of a digit in passes over the array. `keys`: the method for
/// keys without values.
constexpr std::array<registry::tuning_axis, 4> axes{{{"bucket", bucket_choices, 2, bucket_words},
                                                     {"digit", digit_choices, 0, digit_words},
                                                     {"keys", key_choices, 0, key_words},
                                                     {"tile", tile_lengths, 32768}}};

/// Keys that are already sorted, or sorted in reverse: they are read once and copied.
template <class Bits, class Value>
class ordered_keys {
 public:
  ordered_keys(const sort_task<Bits, Value>& task, backend::cpu::queue& queue)
      : task_(task), queue_(queue), succeeds_(vector_kernels_for<Bits>(queue.level()).succeeds) {}

  /// If the input is sorted, or sorted in reverse, writes the output and returns true; else only returns false.
  bool settle() const {
    if (holds(succession::ascending)) return copy(), true;
    // Equal keys without values may be exchanged: this cannot be seen in the output.
    if (holds(moves<Value> ? succession::falling : succession::descending)) return turn(), true;
    return false;
  }

 private:
  static constexpr std::uint64_t glance = 64, tile = 32768;

  bool holds(succession what) const {
    const Bits* const keys = task_.in.keys;
    if (!succeeds_(keys, std::min(task_.n, glance), task_.code, what)) return false;
    std::atomic<bool> all = true;
    sort_tiles(task_.n, tile, queue_).for_each([&](std::uint64_t, unsigned, std::uint64_t begin, std::uint64_t end) {
      if (all && !succeeds_(keys + begin, std::min(end + 1, task_.n) - begin, task_.code, what)) all = false;
    });
    return all;
  }

  Value value(std::uint64_t i) const { return task_.in.values == nullptr ? static_cast<Value>(i) : task_.in.values[i]; }

  void copy() const {
    sort_tiles(task_.n, tile, queue_).for_each([&](std::uint64_t, unsigned, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        task_.out.keys[i] = task_.in.keys[i];
        if constexpr (moves<Value>) task_.out.values[i] = value(i);
      }
    });
  }

  /// Reverses the input by swapping pairs, so that it also works in place.
  void turn() const {
    const std::uint64_t last = task_.n - 1;
    const auto exchange = [last](auto* out, std::uint64_t i, auto front, auto back) {
      out[i] = back;
      out[last - i] = front;
    };
    const sort_tiles half(task_.n - task_.n / 2, tile, queue_);
    half.for_each([&](std::uint64_t, unsigned, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        exchange(task_.out.keys, i, task_.in.keys[i], task_.in.keys[last - i]);
        if constexpr (moves<Value>) exchange(task_.out.values, i, value(i), value(last - i));
      }
    });
  }

  const sort_task<Bits, Value>& task_;
  backend::cpu::queue& queue_;
  bool (*succeeds_)(const Bits*, std::uint64_t, sort_code<Bits>, succession);
};

/// The average number of elements of a bucket; 0 for no buckets.
constexpr std::uint64_t bucket_of(unsigned choice) {
  constexpr std::array<std::uint64_t, 4> lengths{0, 64, 8192, 65536};
  return lengths[choice];
}

/// With fewer buckets, passes over the array are at least as fast: 10000 `u32` take 6 ns each with passes and 8 with
/// buckets, 60000 take 7 and 5.5.
constexpr std::uint64_t fewest_buckets = 4;

/// Bits of a digit. 11 bits save a pass over 32-bit keys, but the cache lines of 2048 digits exceed the first-level
/// cache. So 8 bits are faster for shorter arrays (with values, up to some 4 million elements), and always for 64-bit
/// keys.
template <class Bits, class Value>
constexpr unsigned width_of(unsigned choice, std::uint64_t n) {
  constexpr std::array<unsigned, 4> widths{0, 6, 8, 11};
  if (choice != 0) return widths[choice];
  const std::uint64_t long_enough = std::uint64_t{1} << (moves<Value> ? 22 : 20);
  return sizeof(Bits) == 4 && n >= long_enough ? 11 : 8;
}

/// Up to so many elements a merge sort is faster. At 64 elements it takes half the time, at 1000 twice as long.
constexpr std::uint64_t few = 256;

/// Up to so many keys without values, one thread sorts them by vectors. With several threads, parts or (if the level
/// cannot part) buckets are faster from fewer keys on.
constexpr std::uint64_t most_by_vectors(unsigned threads, bool has_parts) {
  constexpr std::uint64_t most_shared = 32768;
  if (threads == 1) return 2 * most_shared;
  return (has_parts ? std::min<std::uint64_t>(most_shared, 4096 * threads) : most_shared) - 1;
}

/// Up to so many keys, parts are faster than buckets. A vector holds half as many 64-bit codes.
template <class Bits>
constexpr std::uint64_t most_by_parts = sizeof(Bits) == 4 ? ~std::uint64_t{0} : std::uint64_t{1} << 20;

template <class Bits>
void sort_few_by_vectors(const Bits* in, Bits* out, std::uint64_t n, sort_code<Bits> code,
                         backend::cpu::instruction_set level) {
  alignas(cache_line) Bits room[vector_room(few_keys)];
  vector_kernels_for<Bits>(level).sort(in, n, code, out, room);
}

template <class Bits>
void sort_by_vectors(const sort_task<Bits, nothing>& task, backend::cpu::queue& queue) {
  if (task.n <= few_keys) return sort_few_by_vectors(task.in.keys, task.out.keys, task.n, task.code, queue.level());
  const workspace<Bits, nothing> room(queue, vector_room(task.n));
  vector_kernels_for<Bits>(queue.level()).sort(task.in.keys, task.n, task.code, task.out.keys, room.all().keys);
}

template <class Bits, class Value>
void sort_by_radix(const sort_task<Bits, Value>& task, const std::array<unsigned, 4>& tuning,
                   backend::cpu::queue& queue) {
  const auto [bucket_choice, digit_choice, key_choice, tile] = tuning;
  if (task.n > few_keys && ordered_keys(task, queue).settle()) return;
  if constexpr (!moves<Value>)
    if (key_choice == 0) {
      const bool has_parts = vector_kernels_for<Bits>(queue.level()).part != nullptr;
      if (task.n <= most_by_vectors(queue.threads(), has_parts)) return sort_by_vectors(task, queue);
      if (has_parts && task.n <= most_by_parts<Bits> && part_sort(task, queue).run()) return;
    }
  if (task.n <= few) return sort_by_merging(task, few, queue);
  const std::uint64_t bucket = bucket_of(bucket_choice);
  const unsigned width = width_of<Bits, Value>(digit_choice, task.n);
  const sort_tiles tiles(task.n, tile, queue);
  if (bucket != 0 && task.n >= fewest_buckets * bucket && bucket_sort(task, bucket, width, tiles).run()) return;
  radix_passes<Bits, Value>({task, task.code, {}, width}, tiles).run();
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& task) {
    sort_by_radix(task, t.of(axes), static_cast<backend::cpu::queue&>(q));
  });
}

}  // namespace

template <class T>
void sort_few(const T* in, T* out, std::uint64_t n, bool descending) {
  using bits = key_bits<T>;
  sort_few_by_vectors(reinterpret_cast<const bits*>(in), reinterpret_cast<bits*>(out), n, code_of<T>(descending),
                      backend::cpu::best_instruction_set());
}

template <class Bits, class Value>
void sort_by_digits(const sort_task<Bits, Value>& task, backend::cpu::queue& queue) {
  sort_by_radix(task, registry::default_tuning(axes).of(axes), queue);
}

#define TILEWISE_INSTANTIATE_WITH(VALUE)                                                      \
  template void sort_by_digits(const sort_task<std::uint32_t, VALUE>&, backend::cpu::queue&); \
  template void sort_by_digits(const sort_task<std::uint64_t, VALUE>&, backend::cpu::queue&);
TILEWISE_INSTANTIATE_WITH(nothing)
TILEWISE_INSTANTIATE_WITH(std::uint32_t)
TILEWISE_INSTANTIATE_WITH(std::uint64_t)
#define TILEWISE_INSTANTIATE(T) template void sort_few<T>(const T*, T*, std::uint64_t, bool);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

registry::variant cpu_radix_variant() {
  return {.algorithm = "sort",
          .backend = "cpu",
          .name = "radix",
          .types = all_dtypes,
          .source =
              "J. Wassenberg, P. Sanders, Engineering a Multi-core Radix Sort (2011); lines collected before they "
              "are written: N. Satish et al., Fast Sort on CPUs and GPUs (2010); D. E. Knuth, The Art of "
              "Computer Programming 3, 5.2.5",
          .tuning = axes,
          .run = run};
}

}  // namespace tilewise::impl::sort
