// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis on the CPU in one pass over memory: rows by the scan's kernels, columns by strips.
// Order:  a tile of a line is an aligned block. Tiles pass on their block values in order (tile_carries), and each
//         computes its outputs from the prefix before it.
// Shape:  a task is several short rows. Longer rows are cut into tiles, and so are strips of columns if there are too
//         few to keep all workers busy. A worker computes a tile's block values, waits for its turn, and writes the
//         outputs while the tile is in its cache.
// Limits: none; in place too, since a tile reads only itself.
// Twins:  serial.cpp; the kernels are in cpu_kernels.cpp, and those of scan,
//         reduce and reduce_axis.
#include "backend/cpu/device.hpp"
#include "backend/cpu/wait.hpp"
#include "base/ceil_div.hpp"
#include "order/operators.hpp"
#include "reduce/cpu/kernels.hpp"
#include "reduce_axis/cpu/kernels.hpp"
#include "registry/variant.hpp"
#include "scan/cpu/kernels.hpp"
#include "scan_axis/cpu_kernels.hpp"
#include "scan_axis/problem.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

namespace tilewise::impl::scan_axis {

namespace {

constexpr std::array<unsigned, 4> tile_lengths{2048, 8192, 32768, 131072};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 32768}}};

template <class T, class Op>
struct job {
  const T* in;
  T* out;
  registry::lines from, to;
  std::uint64_t tile;
  const T* init;  // null for none
  bool inclusive;
  bool stream;
  backend::cpu::queue& queue;
  const reduce::cpu_kernels<T>& upwards = reduce::kernels_for<T>(queue.level(), Op::id);
  const scan::cpu_kernels<T>& along = scan::kernels_for<T>(queue.level(), Op::id);

  T left() const { return init == nullptr ? Op::template identity<T>() : *init; }
  scan::descent<T> from_the_begin() const {
    return {.carry = Op::template identity<T>(), .init = left(), .inclusive = inclusive, .stream = stream};
  }
};

/// The prefixes before the tiles of several bands at once; a band is a row, or a strip of columns. P(t + 1) over a
/// line's tiles combines P(t + 1 - 2^k) and the block of the last 2^k tiles, where 2^k is the lowest digit of t + 1.
/// The blocks are those of a block stack (order/block_stack.hpp). Tiles are started in ascending order, so a tile only
/// waits for tiles that are already running.
template <class T, class Op>
class tile_carries {
 public:
  /// For `tiles` whole tiles in each of `bands` bands of `width` lines.
  tile_carries(backend::cpu::queue& queue, std::uint64_t bands, std::uint64_t tiles, std::uint64_t width)
      : tiles_(tiles),
        width_(width),
        turns_(bands),
        prefixes_(queue, bands * (tiles + 1) * width * sizeof(T)),
        blocks_(queue, bands * levels() * width * sizeof(T)) {
    for (std::uint64_t band = 0; band < bands; ++band) std::fill_n(prefix(band, 0), width, Op::template identity<T>());
  }

  /// The prefix before a tile, for each line of its band. It is known once the tile's turn has come.
  const T* before(std::uint64_t band, std::uint64_t tile) const { return prefix(band, tile); }

  void wait(std::uint64_t band, std::uint64_t tile) const {
    backend::cpu::spin_until([&] { return turns_[band].load(std::memory_order_acquire) == tile; });
  }

  /// Waits for the tile's turn and appends its block values, which it overwrites.
  void pass(std::uint64_t band, std::uint64_t tile, T* value) {
    wait(band, tile);
    T* block = blocks_.as<T>() + band * levels() * width_;
    std::uint64_t length = 1;
    for (; (tile & length) != 0; length *= 2, block += width_)
      for (std::uint64_t l = 0; l < width_; ++l) value[l] = Op::template apply<T>(block[l], value[l]);
    std::copy_n(value, width_, block);
    const T* const from = prefix(band, tile + 1 - length);
    T* const to = prefix(band, tile + 1);
    for (std::uint64_t l = 0; l < width_; ++l) to[l] = Op::template apply<T>(from[l], value[l]);
    turns_[band].store(tile + 1, std::memory_order_release);
  }

 private:
  std::uint64_t levels() const { return static_cast<std::uint64_t>(std::bit_width(tiles_)); }
  T* prefix(std::uint64_t band, std::uint64_t tile) const {
    return prefixes_.as<T>() + (band * (tiles_ + 1) + tile) * width_;
  }

  std::uint64_t tiles_, width_;
  std::vector<std::atomic<std::uint64_t>> turns_;
  backend::buffer prefixes_, blocks_;
};

/// Scans rows of at most one tile.
template <class T, class Op>
void scan_short_rows(const job<T, Op>& j) {
  const std::uint64_t n = j.from.length, rows = std::max<std::uint64_t>(1, j.tile / n);
  const bool at_once = n <= reduce::small_limit && !j.stream;
  const std::uint64_t slot = at_once ? 0 : j.upwards.scratch_elements(n);
  const backend::buffer scratch(j.queue, j.queue.threads() * slot * sizeof(T));
  const scan::descent<T> how = j.from_the_begin();
  const auto packed_rows = kernels_for<T>(j.queue.level(), Op::id).packed_rows;
  j.queue.for_each_tile(ceil_div(j.from.count, rows), [&](std::uint64_t i, unsigned worker) {
    T* const levels = scratch.as<T>() + worker * slot;
    const std::uint64_t end = std::min(j.from.count, (i + 1) * rows);
    std::uint64_t row = i * rows;
    if (j.from.line == n && j.to.line == n)
      row += packed_rows(j.in + row * n, j.out + row * n, end - row, n, j.left(), j.inclusive);
    for (; row < end; ++row) {
      const T* const in = j.in + row * j.from.line;
      T* const out = j.out + row * j.to.line;
      if (at_once) {
        j.along.small(in, out, n, j.init, j.inclusive);
      } else {
        j.upwards.upsweep(in, n, levels);
        j.along.downsweep(in, out, n, levels, how);
      }
    }
  });
}

template <class T, class Op>
void scan_long_rows(const job<T, Op>& j) {
  const std::uint64_t rows = j.from.count, whole = j.from.length / j.tile, rest = j.from.length % j.tile;
  const std::uint64_t slot = j.upwards.scratch_elements(j.tile);
  const backend::buffer scratch(j.queue, j.queue.threads() * slot * sizeof(T));
  tile_carries<T, Op> carries(j.queue, rows, whole, 1);
  const auto begin_of = [&](std::uint64_t i) { return j.in + i % rows * j.from.line + i / rows * j.tile; };
  j.queue.for_each_tile(rows * (whole + (rest != 0)), [&](std::uint64_t i, unsigned worker) {
    const std::uint64_t row = i % rows, tile = i / rows, count = tile == whole ? rest : j.tile;
    const T* const in = begin_of(i);
    T* const levels = scratch.as<T>() + worker * slot;
    scan::descent<T> how = j.from_the_begin();
    j.upwards.upsweep(in, count, levels);
    if (tile == whole) {
      carries.wait(row, tile);
    } else {
      T value = j.upwards.fold(in, count, levels, Op::template identity<T>());
      carries.pass(row, tile, &value);
      how.next = carries.before(row, tile + 1);
      const std::uint64_t ahead = i + j.queue.threads();  // the workers mostly take turns
      if (ahead < rows * whole) how.ahead = begin_of(ahead);
    }
    how.carry = *carries.before(row, tile);
    j.along.downsweep(in, j.out + row * j.to.line + tile * j.tile, count, levels, how);
  });
}

/// The columns, in strips of equal width; only the last may be narrower.
template <class T, class Op>
class strips {
 public:
  strips(const job<T, Op>& j, std::uint64_t width, std::uint64_t rows)
      : job_(j),
        width_(width),
        slot_(scratch_elements(rows, width)),
        scratch_(j.queue, j.queue.threads() * slot_ * sizeof(T)) {}

  std::uint64_t count() const { return ceil_div(job_.from.count, width_); }
  std::uint64_t width() const { return width_; }

  /// P(rows) of each column, where `rows` is a power of two, into `value`.
  void fold(std::uint64_t strip, std::uint64_t row, std::uint64_t rows, T* value) const {
    constexpr std::uint64_t most = reduce_axis::strip<T>;
    const std::uint64_t columns = columns_of(strip);
    std::fill_n(value, width_, Op::template identity<T>());
    for (std::uint64_t c = 0; c < columns; c += most)
      downwards_(input(strip, row) + c, job_.from.element, rows, std::min(most, columns - c), value + c);
  }

  void scan(std::uint64_t strip, std::uint64_t row, std::uint64_t rows, const T* carry, const T* next,
            unsigned worker) const {
    T* const out = job_.out + row * job_.to.element + strip * width_;
    kernels_.columns({input(strip, row), job_.from.element, out, job_.to.element, rows, columns_of(strip)},
                     {.carry = carry, .next = next, .init = job_.left(), .inclusive = job_.inclusive},
                     scratch_.template as<T>() + worker * slot_);
  }

 private:
  const T* input(std::uint64_t strip, std::uint64_t row) const {
    return job_.in + row * job_.from.element + strip * width_;
  }
  std::uint64_t columns_of(std::uint64_t strip) const { return std::min(width_, job_.from.count - strip * width_); }

  const job<T, Op>& job_;
  const std::uint64_t width_, slot_;
  const backend::buffer scratch_;
  const cpu_kernels<T>& kernels_ = kernels_for<T>(job_.queue.level(), Op::id);
  void (*const downwards_)(const T*, std::uint64_t, std::uint64_t, std::uint64_t,
                           T*) = reduce_axis::kernels_for<T>(job_.queue.level(), Op::id).columns;
};

/// Scans whole columns; each thread takes some strips.
template <class T, class Op>
void scan_whole_columns(const job<T, Op>& j, std::uint64_t threads) {
  constexpr std::uint64_t line = 64 / sizeof(T);
  const std::uint64_t each = ceil_div(ceil_div(j.from.count, threads), line) * line;
  const strips<T, Op> all(j, std::min({strip_width<T>, each, j.from.count}), j.from.length);
  j.queue.for_each_tile(
      all.count(), [&](std::uint64_t i, unsigned worker) { all.scan(i, 0, j.from.length, nullptr, nullptr, worker); });
}

/// Scans columns in tiles of rows, if there are too few columns to keep all threads busy.
template <class T, class Op>
void scan_tiles_of_columns(const job<T, Op>& j) {
  const std::uint64_t width = std::min(strip_width<T>, j.from.count);
  const std::uint64_t rows = std::bit_floor(std::max<std::uint64_t>(8, j.tile / width));
  const std::uint64_t whole = j.from.length / rows, rest = j.from.length % rows;
  const strips<T, Op> all(j, width, rows);
  const backend::buffer values(j.queue, j.queue.threads() * width * sizeof(T));
  tile_carries<T, Op> carries(j.queue, all.count(), whole, width);
  j.queue.for_each_tile(all.count() * (whole + (rest != 0)), [&](std::uint64_t i, unsigned worker) {
    const std::uint64_t strip = i % all.count(), tile = i / all.count();
    if (tile == whole) {
      carries.wait(strip, tile);
      return all.scan(strip, tile * rows, rest, carries.before(strip, tile), nullptr, worker);
    }
    T* const value = values.as<T>() + worker * width;
    all.fold(strip, tile * rows, rows, value);
    carries.pass(strip, tile, value);
    all.scan(strip, tile * rows, rows, carries.before(strip, tile), carries.before(strip, tile + 1), worker);
  });
}

template <class T, class Op>
void scan_columns(const job<T, Op>& j) {
  constexpr std::uint64_t least = 1024 / sizeof(T);  // columns that a thread gets at least
  if (j.from.count * j.from.length <= j.tile)
    scan_whole_columns(j, 1);
  else if (j.queue.threads() == 1 || j.from.count >= j.queue.threads() * least)
    scan_whole_columns(j, j.queue.threads());
  else
    scan_tiles_of_columns(j);
}

/// Whether to write long rows past the caches: if input and output together do not fit the last-level cache. A scan in
/// place does not, since the lines of its input are cached already. Columns are never written past the caches: they are
/// written eight rows at a time, which would be slower.
bool worth_streaming(const registry::problem& p, const registry::bindings& where, const backend::cpu::queue& queue) {
  constexpr std::uint64_t long_row = 1024;
  const registry::lines to = lines_of_output(p);
  return axis_of(p) == axis::rows && to.length >= long_row && where.in[0].as<char>() != where.out[0].as<char>() &&
         queue.exceeds_cache(2 * to.count * to.length * size_of(p.type));
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      const T init = init_of<T>(p);
      const job<T, Op> all{where.in[0].as<const T>(),
                           where.out[0].as<T>(),
                           from,
                           lines_of_output(p),
                           tile,
                           starts_from_init(p) ? &init : nullptr,
                           !is_exclusive(p),
                           worth_streaming(p, where, queue),
                           queue};
      if (axis_of(p) == axis::columns)
        scan_columns(all);
      else if (from.length <= tile)
        scan_short_rows(all);
      else
        scan_long_rows(all);
    });
  });
}

}  // namespace

std::vector<registry::variant> scan_axis_cpu_variants() {
  return {{.algorithm = "scan_axis",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source =
               "G. E. Blelloch, Prefix Sums and Their Applications (1990), for each row or column; tiles in turn: "
               "W. Zhang et al., Parallel Prefix Sum with SIMD (2020)",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::scan_axis
