// SPDX-License-Identifier: Apache-2.0
// What:   radix sort on the CPU: passes over the leading digits, the last of them first, then an insertion sort of what
//         they leave, which for long keys is next to nothing.
// Order:  by code (sort_code.hpp); every pass is stable.
// Shape:  a pass counts the digits of each tile (tiles), adds the counts up to places (spine) and moves the tiles'
//         elements there (finish). As many digits are taken as tell nearly all keys apart, judged by a sample.
// Limits: workspace of the size of the input. Keys that deceive the sample cost the passes once more.
// Twins:  sort_serial.cpp; the kernels are in sort_cpu_radix_kernels.cpp.
#include "base/ceil_div.hpp"
#include "base/instantiate.hpp"
#include "sort/sort_cpu.hpp"
#include "sort/sort_cpu_radix_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilewise::impl::sort {

namespace {

constexpr std::array<unsigned, 4> digit_choices{0, 1, 2, 3};
constexpr std::array<std::string_view, 4> digit_words{"chosen", "6", "8", "11"};  // bits
constexpr std::array<unsigned, 3> tile_lengths{4096, 32768, 262144};
constexpr std::array<registry::tuning_axis, 2> axes{
    {{"digit", digit_choices, 0, digit_words}, {"tile", tile_lengths, 32768}}};

/// Bits of a digit. 11 save a pass over keys of 32 bits, but the lines of 2048 digits leave the first-level cache: 8
/// are faster for shorter arrays, with values up to some 4 million elements, and for keys of 64 bits always.
template <class Bits, class Value>
constexpr unsigned width_of(unsigned choice, std::uint64_t n) {
  constexpr std::array<unsigned, 4> widths{0, 6, 8, 11};
  if (choice != 0) return widths[choice];
  const std::uint64_t long_enough = std::uint64_t{1} << (moves<Value> ? 22 : 20);
  return sizeof(Bits) == 4 && n >= long_enough ? 11 : 8;
}

/// Up to here a merge sort is faster: at 64 elements it takes half the time, at 1000 twice.
constexpr std::uint64_t few = 256;

/// Writing straight to as many places as a digit has values is faster while all of them are in the second-level cache.
constexpr std::uint64_t near_bytes = 4 * 1024;

/// Enough to judge how a digit is distributed.
constexpr std::uint64_t sample_size = 4096;

/// Other keys with which a key may share all its leading digits, on average: inserting so few costs less than a pass.
constexpr double worthwhile = 1.0 / 8;

/// Moves of an insertion sort for each element: many more than the sample promised, but still cheaper than a pass.
constexpr std::uint64_t moves_each = 2;

/// Tiles per worker: enough to even out what a worker loses to other programs.
constexpr std::uint64_t tiles_each = 4;

using counts = std::vector<std::uint64_t>;

template <class Bits>
struct counted_digit {
  digit<Bits> by;
  counts of_sample;
};

template <class Bits, class Value>
class radix_sort {
 public:
  using digits = std::vector<counted_digit<Bits>>;  // the leading one first

  radix_sort(const sort_task<Bits, Value>& task, unsigned digit_choice, std::uint64_t tile, backend::cpu::queue& queue)
      : task_(task),
        queue_(queue),
        on_keys_(radix_key_kernels_for<Bits>(queue.level())),
        kernels_(radix_kernels_for<Bits, Value>(queue.level())),
        width_(width_of<Bits, Value>(digit_choice, task.n)),
        tile_(std::max(tile, ceil_div(task.n, tiles_each * queue.threads()))),
        tiles_(ceil_div(task.n, tile_)),
        bytes_(task.n * (sizeof(Bits) + (moves<Value> ? sizeof(Value) : 0))) {}

  void run() {
    if (task_.n <= few) return sort_by_merging(task_, few, queue_);
    const std::vector<digit<Bits>> all = varying_digits();
    const digits leading = enough_of(all);
    sort_by(leading, task_.in.keys, task_.in.values);
    if (leading.size() == all.size() || sort_ties(leading.back().by)) return;
    digits every;
    for (const digit<Bits>& by : all) every.push_back({by, {}});
    sort_by(every, task_.out.keys, task_.out.values);
  }

 private:
  /// The bits in which keys differ, from the first on.
  std::vector<digit<Bits>> varying_digits() {
    std::vector<common_bits<Bits>> found(tiles_);
    for_each_tile([&](std::uint64_t tile, unsigned, std::uint64_t begin, std::uint64_t end) {
      found[tile] = on_keys_.common(task_.in.keys + begin, end - begin, task_.code);
    });
    common_bits<Bits> common = found[0];
    for (const auto& bits : found) common = {common.any | bits.any, common.all & bits.all};
    std::vector<digit<Bits>> all;
    for (Bits left = common.any ^ common.all; left != 0;) {
      const unsigned end = static_cast<unsigned>(std::bit_width(left));
      const unsigned begin = std::max<unsigned>(end < width_ ? 0 : end - width_, std::countr_zero(left));
      all.push_back({begin, end - begin});
      left &= (Bits(1) << begin) - 1;
    }
    return all;
  }

  /// The first of `all` that tell nearly all keys apart, if digits are independent of each other.
  digits enough_of(const std::vector<digit<Bits>>& all) const {
    std::vector<Bits> picked;
    if (tiles_ != 1)
      for (std::uint64_t i = 0; i < sample_size; ++i) picked.push_back(task_.in.keys[i * (task_.n / sample_size)]);
    const Bits* const sample = tiles_ == 1 ? task_.in.keys : picked.data();
    const std::uint64_t size = tiles_ == 1 ? task_.n : sample_size;
    digits enough;
    double others = static_cast<double>(task_.n);
    for (const digit<Bits>& by : all) {
      counts of_sample(by.values());
      on_keys_.count(sample, size, task_.code, by, of_sample.data());
      double pairs = 0;
      for (std::uint64_t count : of_sample)
        pairs += static_cast<double>(count) * static_cast<double>(count - (count != 0));
      others *= pairs / (static_cast<double>(size) * static_cast<double>(size - 1));
      enough.push_back({by, tiles_ == 1 ? std::move(of_sample) : counts()});
      if (others < worthwhile) break;
    }
    return enough;
  }

  /// Stable passes from `keys` and `values`, which may be the output, to the output.
  void sort_by(digits by, const Bits* keys, const Value* values) {
    // Passes write workspace and output alternately, the output last. A pass by no bits copies.
    const bool in_place = keys == task_.out.keys || (moves<Value> && values == task_.out.values);
    if (by.empty() || (in_place && by.size() % 2 != 0)) by.push_back({{0, 0}, {task_.n}});
    const workspace<Bits, Value> between(queue_, by.size() > 1 ? task_.n : 0);
    sort_code<Bits> before = task_.code;
    for (std::uint64_t left = by.size(); left-- != 0;) {
      const auto to = left % 2 == 0 ? task_.out : between.all();
      const auto after = left == 0 ? task_.code : sort_code<Bits>{};
      pass(by[left], {keys, values, 0, 0, to, before, after, by[left].by, nullptr, nullptr, false, false});
      before = {};
      keys = to.keys;
      values = to.values;
    }
  }

  void pass(const counted_digit<Bits>& by, scatter_task<Bits, Value> how) {
    const unsigned values = by.by.values();
    counts places = tiles_ == 1 ? by.of_sample : counts();  // those of its only tile, in whatever order
    if (places.empty()) {
      places.resize(tiles_ * values);
      for_each_tile([&](std::uint64_t tile, unsigned, std::uint64_t begin, std::uint64_t end) {
        on_keys_.count(how.keys + begin, end - begin, how.before, by.by, &places[tile * values]);
      });
    }
    std::uint64_t before = 0;
    for (unsigned d = 0; d < values; ++d)
      for (std::uint64_t tile = 0; tile < tiles_; ++tile) before += std::exchange(places[tile * values + d], before);

    how.combine = bytes_ > near_bytes;
    how.stream = queue_.exceeds_cache(2 * bytes_);
    const std::uint64_t slot = scatter_scratch(by.by);
    const backend::buffer scratch(queue_, queue_.threads() * slot);
    for_each_tile([&](std::uint64_t tile, unsigned worker, std::uint64_t begin, std::uint64_t end) {
      auto mine = how;
      mine.begin = begin;
      mine.end = end;
      mine.first = &places[tile * values];
      mine.scratch = scratch.as<std::byte>() + worker * slot;
      kernels_.scatter(mine);
    });
  }

  /// Sorts elements that are in order down to the digit `last`. False if there are too many, still in some such order.
  bool sort_ties(digit<Bits> last) {
    const auto prefix = [&](std::uint64_t i) { return task_.code.encode(task_.out.keys[i]) >> last.shift; };
    std::vector<std::uint64_t> begin(tiles_ + 1, task_.n);  // elements that share all digits go to one tile
    begin[0] = 0;
    for (std::uint64_t tile = 1; tile < tiles_; ++tile) {
      std::uint64_t at = std::max(begin[tile - 1], tile * tile_);
      while (at < task_.n && prefix(at) == prefix(at - 1)) ++at;
      begin[tile] = at;
    }
    std::vector<char> done(tiles_);
    for_each_tile([&](std::uint64_t tile, unsigned, std::uint64_t, std::uint64_t) {
      done[tile] = kernels_.insert(task_.out, begin[tile], begin[tile + 1], task_.code, moves_each * tile_);
    });
    return std::find(done.begin(), done.end(), 0) == done.end();
  }

  template <class Body>
  void for_each_tile(Body body) {
    queue_.for_each_tile(tiles_, [&](std::uint64_t tile, unsigned worker) {
      body(tile, worker, tile * tile_, std::min(task_.n, (tile + 1) * tile_));
    });
  }

  const sort_task<Bits, Value>& task_;
  backend::cpu::queue& queue_;
  const radix_key_kernels<Bits>& on_keys_;
  const radix_kernels<Bits, Value>& kernels_;
  unsigned width_;
  std::uint64_t tile_, tiles_, bytes_;
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [digit, tile] = t.of(axes);
  with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& task) {
    radix_sort<Bits, Value>(task, digit, tile, static_cast<backend::cpu::queue&>(q)).run();
  });
}

}  // namespace

template <class T>
void sort_few(const T* in, T* out, std::uint64_t n, bool descending) {
  using bits = key_bits<T>;
  const auto& kernels = radix_kernels_for<bits, nothing>(backend::cpu::best_instruction_set());
  if (in != out) std::memcpy(out, in, n * sizeof(T));
  kernels.insert({reinterpret_cast<bits*>(out), nullptr}, 0, n, code_of<T>(descending), ~std::uint64_t{0});
}

template <class Bits>
void sort_by_digits(const sort_task<Bits, nothing>& task, backend::cpu::queue& queue) {
  radix_sort<Bits, nothing>(task, axes[0].preset, axes[1].preset, queue).run();
}

template void sort_by_digits(const sort_task<std::uint32_t, nothing>&, backend::cpu::queue&);
template void sort_by_digits(const sort_task<std::uint64_t, nothing>&, backend::cpu::queue&);
#define TILEWISE_INSTANTIATE(T) template void sort_few<T>(const T*, T*, std::uint64_t, bool);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

registry::variant cpu_radix_variant() {
  return {.algorithm = "sort",
          .backend = "cpu",
          .name = "radix",
          .types = all_dtypes,
          .source =
              "D. E. Knuth, The Art of Computer Programming 3, 5.2.5; lines collected before they are written: "
              "N. Satish et al., Fast Sort on CPUs and GPUs (2010)",
          .tuning = axes,
          .run = run};
}

}  // namespace tilewise::impl::sort
