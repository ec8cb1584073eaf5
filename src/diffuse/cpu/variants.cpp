// SPDX-License-Identifier: Apache-2.0
// What:   diffusion on the CPU: each pass over memory computes one or several steps.
// Order:  every element is stepped by the same expression as in the definition; an element that two tiles need is
//         computed in both.
// Shape:  tiles of `band` rows of `strip` columns, in parallel. A tile has one level per step. When a row is read, each
//         level computes the next row whose neighbours the level before it has now completed. Each level keeps its last
//         2 * radius + 1 rows, so that all levels of a strip stay in the caches. Within the field, each level is one
//         radius wider on each side than the next.
// Limits: none.
// Twins:  serial.cpp; the steps of a row are in kernels.cpp.
#include "backend/cpu/device.hpp"
#include "diffuse/cpu/kernels.hpp"
#include "diffuse/problem.hpp"

namespace tilewise::impl::diffuse {

namespace {

using backend::buffer;

constexpr std::array<unsigned, 5> strips{64, 256, 512, 1024, 4096};
constexpr std::array<unsigned, 4> bands{16, 64, 256, 1024};
constexpr std::array<unsigned, 5> depths{2, 4, 8, 16, 32};
/// How many element steps are worth a thread. On a Zen 3, twice as many take some 30 us on one thread and as long on
/// two, since the second must be woken.
constexpr std::uint64_t worth_a_thread = 16384;
constexpr std::array<registry::tuning_axis, 2> fused_axes{{{"strip", strips, 4096}, {"band", bands, 64}}};
constexpr std::array<registry::tuning_axis, 3> temporal_axes{
    {{"strip", strips, 1024}, {"band", bands, 256}, {"steps", depths, 16}}};

template <class T>
constexpr std::uint64_t cache_line = 64 / sizeof(T);

struct range {
  std::uint64_t begin, end;

  std::uint64_t size() const { return end - begin; }
  bool contains(std::uint64_t i) const { return begin <= i && i < end; }
  range widened(std::uint64_t by, std::uint64_t limit) const {
    return {begin - std::min(begin, by), std::min(end + by, limit)};
  }
};

/// The form of the mask that is computed.
template <class T>
struct form {
  mask name;
  weights<T> w;
  const cpu_kernels<T>& kernels;
};

/// One pass of one tile.
template <class T>
class cascade {
 public:
  cascade(const sizes& field, const form<T>& f, range rows, range columns, std::uint64_t depth, T* scratch)
      : field_(field),
        radius_(radius_of(f.name)),
        form_(f),
        rows_(rows),
        columns_(columns),
        depth_(depth),
        stride_(row_elements(columns.size(), depth)),
        scratch_(scratch) {}

  /// The length of a row in whole cache lines, with one more line on each side for its ghosts.
  static std::uint64_t row_elements(std::uint64_t columns, std::uint64_t depth) {
    return (ceil_div(columns + 2 * widest * depth, cache_line<T>) + 2) * cache_line<T>;
  }
  static std::uint64_t scratch_elements(std::uint64_t columns, std::uint64_t depth) {
    return depth * rows_kept * row_elements(columns, depth);
  }

  /// Returns false if a value is too large for the form; the output is then incomplete.
  bool run(const T* from, T* to, bool last) const {
    const range first = rows_of(0);
    for (std::uint64_t front = first.begin; front < rows_.end + depth_ * radius_; ++front) {
      if (front < first.end && !take(from, front)) return false;
      for (std::uint64_t level = 1; level <= depth_; ++level)
        if (front >= level * radius_ && rows_of(level).contains(front - level * radius_))
          step(level, front - level * radius_, to, last);
    }
    return true;
  }

 private:
  static constexpr std::uint64_t widest = radius_of(mask::cross);
  static constexpr std::uint64_t rows_kept = 2 * widest + 1;

  range rows_of(std::uint64_t level) const { return rows_.widened((depth_ - level) * radius_, field_.rows); }
  range columns_of(std::uint64_t level) const { return columns_.widened((depth_ - level) * radius_, field_.columns); }

  /// Row j of a level, as a pointer to which a column's number in the field is added.
  T* row(std::uint64_t level, std::uint64_t j) const {
    const std::uint64_t slot = level * rows_kept + j % rows_kept;
    return scratch_ + slot * stride_ + cache_line<T> - columns_of(0).begin;
  }

  bool take(const T* from, std::uint64_t j) const {
    const range columns = columns_of(0);
    const T* const first = from + j * field_.columns + columns.begin;
    if (form_.name == mask::scaled_five_points && form_.kernels.has_huge(first, columns.size())) return false;
    std::copy_n(first, columns.size(), row(0, j) + columns.begin);
    set_edges(0, j);
    return true;
  }

  void step(std::uint64_t level, std::uint64_t j, T* to, bool last) const {
    const range columns = columns_of(level);
    std::array<const T*, rows_kept> around;
    for (std::uint64_t k = 0; k <= 2 * radius_; ++k) {
      const std::uint64_t wanted = j + k < radius_ ? 0 : std::min(j + k - radius_, field_.rows - 1);
      around[k] = row(level - 1, wanted) + columns.begin;
    }
    const bool is_output = level == depth_;
    T* const next = is_output ? to + j * field_.columns : row(level, j);
    const auto step_row = is_output && last ? form_.kernels.last_step : form_.kernels.step;
    step_row(around.data(), next + columns.begin, columns.size(), form_.w);
    if (!is_output) set_edges(level, j);
  }

  /// Sets the elements of the boundary strips and the ghosts of a row, if the level reaches an edge of the field.
  void set_edges(std::uint64_t level, std::uint64_t j) const {
    const range columns = columns_of(level);
    T* const elements = row(level, j);
    if (columns.begin == 0 && j < field_.half()) elements[0] = 1;
    if (columns.end == field_.columns && j >= field_.half()) elements[columns.end - 1] = 1;
    for (std::uint64_t ghost = 1; ghost <= radius_; ++ghost) {
      if (columns.begin == 0) *(elements - ghost) = elements[0];
      if (columns.end == field_.columns) elements[columns.end - 1 + ghost] = elements[columns.end - 1];
    }
  }

  sizes field_;
  std::uint64_t radius_;
  const form<T>& form_;
  range rows_, columns_;
  std::uint64_t depth_, stride_;
  T* scratch_;
};

template <class T>
void advance(const registry::problem& p, const registry::bindings& where, std::uint64_t strip, std::uint64_t band,
             std::uint64_t depth, backend::cpu::queue& queue) {
  const sizes s(p);
  const weights<T> w = weights_in<T>(p);
  const form<T> plain{mask_of(p), w, kernels_for<T>(queue.level(), mask_of(p))};
  const form<T> scaled{mask::scaled_five_points, scaled_weights(w),
                       kernels_for<T>(queue.level(), mask::scaled_five_points)};
  const bool is_scaled = depth > 1 && can_scale(mask_of(p), w);  // a single step waits for memory anyway
  const std::uint64_t passes = ceil_div(s.steps, depth);
  const std::uint64_t across = ceil_div(s.columns, strip);
  const std::uint64_t threads =
      std::clamp<std::uint64_t>(s.elements() * std::min(depth, s.steps) / worth_a_thread, 1, queue.threads());
  band = std::min(band, ceil_div(s.rows, ceil_div(threads, across)));  // at least one tile for each of them
  const std::uint64_t down = ceil_div(s.rows, band);
  const std::uint64_t slot = cascade<T>::scratch_elements(std::min(strip, s.columns), depth);
  const buffer scratch(queue, queue.threads() * slot * sizeof(T));
  const buffer workspace(queue, passes > 1 ? s.elements() * sizeof(T) : 0);
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    const stage now(where, workspace, passes, pass);
    queue.for_each_tile(across * down, [&](std::uint64_t tile, unsigned worker) {
      const std::uint64_t i = tile % across * strip, j = tile / across * band;
      const auto run_as = [&](const form<T>& f) {
        const cascade<T> levels(s, f, {j, std::min(j + band, s.rows)}, {i, std::min(i + strip, s.columns)},
                                std::min(depth, s.steps - pass * depth), scratch.as<T>() + worker * slot);
        return levels.run(now.from.as<const T>(), now.to.as<T>(), pass + 1 == passes);
      };
      if (!is_scaled || !run_as(scaled)) run_as(plain);
    });
  }
}

void run(const registry::problem& p, const registry::bindings& where, std::uint64_t strip, std::uint64_t band,
         std::uint64_t depth, backend::queue& queue) {
  if (copies_only(p, where, queue)) return;
  with_float(p.type,
             [&]<class T>(T) { advance<T>(p, where, strip, band, depth, static_cast<backend::cpu::queue&>(queue)); });
}

void run_temporal(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                  backend::queue& queue) {
  const auto [strip, band, steps] = t.of(temporal_axes);
  run(p, where, strip, band, steps, queue);
}

void run_fused(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
               backend::queue& queue) {
  const auto [strip, band] = t.of(fused_axes);
  run(p, where, strip, band, 1, queue);
}

}  // namespace

std::vector<registry::variant> diffuse_cpu_variants() {
  return {{.algorithm = "diffuse",
           .backend = "cpu",
           .name = "temporal",
           .types = float_types,
           .source = "overlapped tiles: T. Zhou et al., Hierarchical overlapped tiling (2012); one row wave per tile: "
                     "G. Wellein et al., Efficient temporal blocking for stencil computations (2009)",
           .tuning = temporal_axes,
           .run = run_temporal},
          {.algorithm = "diffuse",
           .backend = "cpu",
           .name = "fused",
           .types = float_types,
           .source = "the definition, its three loops in one",
           .tuning = fused_axes,
           .run = run_fused}};
}

}  // namespace tilewise::impl::diffuse
