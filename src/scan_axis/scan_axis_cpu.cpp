// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis on the CPU in one pass over memory: rows by the scan's kernels, columns by strips.
// Order:  a tile of a line is an aligned block; tiles pass their block values on in order (scan_axis_cpu_carries.hpp),
//         and each writes from the prefix before it.
// Shape:  short rows several to a task. Of longer rows, and of strips of columns where these are too few to share out,
//         tiles: a worker makes the tile's block values, waits for its turn, and writes while the tile is in its cache.
// Limits: none; in place too, since a tile reads only itself.
// Twins:  scan_axis_serial.cpp; the kernels are in scan_axis_cpu_kernels.cpp, and those of scan, reduce and
// reduce_axis.
#include "backend/cpu/cpu_device.hpp"
#include "base/ceil_div.hpp"
#include "reduce/reduce_cpu_kernels.hpp"
#include "reduce_axis/reduce_axis_cpu_kernels.hpp"
#include "registry/variant.hpp"
#include "scan/scan_cpu_kernels.hpp"
#include "scan_axis/scan_axis_cpu_carries.hpp"
#include "scan_axis/scan_axis_cpu_kernels.hpp"
#include "scan_axis/scan_axis_problem.hpp"

namespace tilewise::impl::scan_axis {

namespace {

constexpr std::array<unsigned, 4> tile_lengths{2048, 8192, 32768, 131072};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 32768}}};
constexpr std::uint64_t strips_per_thread = 8;  // at least, so that the last ones end at about the same time

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

/// Rows that are one tile at most.
template <class T, class Op>
void scan_short_rows(const job<T, Op>& j) {
  const std::uint64_t n = j.from.length, rows = std::max<std::uint64_t>(1, j.tile / n);
  const bool at_once = n <= reduce::small_limit && !j.stream;
  const std::uint64_t slot = at_once ? 0 : j.upwards.scratch_elements(n);
  const backend::buffer scratch(j.queue, j.queue.threads() * slot * sizeof(T));
  const scan::descent<T> how = j.from_the_begin();
  j.queue.for_each_tile(ceil_div(j.from.count, rows), [&](std::uint64_t i, unsigned worker) {
    T* const levels = scratch.as<T>() + worker * slot;
    for (std::uint64_t row = i * rows; row < std::min(j.from.count, (i + 1) * rows); ++row) {
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

/// Columns in strips. Where rows are written past the caches, all strips but the first begin at whole cache lines.
template <class T, class Op>
class strips {
 public:
  explicit strips(const job<T, Op>& j) : job_(j), kernels_(kernels_for<T>(j.queue.level(), Op::id)) {
    if (j.stream) shift_ = reinterpret_cast<std::uintptr_t>(j.out) % 64 / sizeof(T);
    count_ = ceil_div(j.from.count + shift_, width());
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t width() const { return std::min(strip_width<T>, job_.from.count + shift_); }
  std::uint64_t begin(std::uint64_t strip) const { return strip == 0 ? 0 : strip * width() - shift_; }
  std::uint64_t columns(std::uint64_t strip) const {
    return std::min(job_.from.count, (strip + 1) * width() - shift_) - begin(strip);
  }
  const T* input(std::uint64_t strip, std::uint64_t row) const {
    return job_.in + row * job_.from.element + begin(strip);
  }

  void scan_rows(std::uint64_t strip, std::uint64_t row, std::uint64_t rows, const T* carry, const T* next) const {
    const scan_axis::strip<T> some{
        input(strip, row), job_.from.element, job_.out + row * job_.to.element + begin(strip), job_.to.element, rows,
        columns(strip)};
    const bool begins_a_line = reinterpret_cast<std::uintptr_t>(some.out) % 64 == 0;
    kernels_.columns(some, {.carry = carry,
                            .next = next,
                            .init = job_.left(),
                            .inclusive = job_.inclusive,
                            .stream = job_.stream && begins_a_line});
  }

 private:
  const job<T, Op>& job_;
  const cpu_kernels<T>& kernels_;
  std::uint64_t shift_ = 0, count_;
};

template <class T, class Op>
void scan_columns(const job<T, Op>& j) {
  const strips<T, Op> all(j);
  const std::uint64_t length = j.from.length;
  if (j.queue.threads() == 1 || all.count() >= j.queue.threads() * strips_per_thread)
    return j.queue.for_each_tile(all.count(),
                                 [&](std::uint64_t i, unsigned) { all.scan_rows(i, 0, length, nullptr, nullptr); });
  const std::uint64_t rows = std::bit_floor(std::max<std::uint64_t>(8, j.tile / all.width()));
  const std::uint64_t whole = length / rows, rest = length % rows;
  const auto fold_columns = reduce_axis::kernels_for<T>(j.queue.level(), Op::id).columns;
  const backend::buffer values(j.queue, j.queue.threads() * all.width() * sizeof(T));
  tile_carries<T, Op> carries(j.queue, all.count(), whole, all.width());
  j.queue.for_each_tile(all.count() * (whole + (rest != 0)), [&](std::uint64_t i, unsigned worker) {
    const std::uint64_t strip = i % all.count(), tile = i / all.count();
    if (tile == whole) {
      carries.wait(strip, tile);
      return all.scan_rows(strip, tile * rows, rest, carries.before(strip, tile), nullptr);
    }
    T* const value = values.as<T>() + worker * all.width();
    std::fill_n(value, all.width(), Op::template identity<T>());
    fold_columns(all.input(strip, tile * rows), j.from.element, rows, all.columns(strip), value);
    carries.pass(strip, tile, value);
    all.scan_rows(strip, tile * rows, rows, carries.before(strip, tile), carries.before(strip, tile + 1));
  });
}

/// Output that does not fit the last-level cache together with its input is written past it, unless it is the input,
/// whose lines are there already. Columns need rows that lie alike in cache lines; rows that are longer than a vector
/// of vectors.
template <class T>
bool worth_streaming(const registry::problem& p, const T* in, const T* out, const backend::cpu::queue& queue) {
  const registry::lines to = lines_of_output(p);
  const bool is_possible = axis_of(p) == axis::rows ? to.length >= 1024 : to.element * sizeof(T) % 64 == 0;
  return is_possible && in != out && queue.exceeds_cache(2 * to.count * to.length * sizeof(T));
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      const T* const in = where.in[0].as<const T>();
      T* const out = where.out[0].as<T>();
      const T init = init_of<T>(p);
      const job<T, Op> all{in,
                           out,
                           from,
                           lines_of_output(p),
                           tile,
                           starts_from_init(p) ? &init : nullptr,
                           !is_exclusive(p),
                           worth_streaming(p, in, out, queue),
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
