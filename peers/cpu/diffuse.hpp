// SPDX-License-Identifier: Apache-2.0
// HiPerC's program for CPUs: fields are pointers to rows; in each step the boundaries, the mask and the update are
// separate loops, which a team of threads shares in its own way.
#pragma once

#include "backend/cpu/device.hpp"
#include "diffuse/problem.hpp"
#include "peers/variants.hpp"

#include <algorithm>

namespace tilewise::peers::hiperc {

namespace diffuse = impl::diffuse;

struct range {
  std::uint64_t begin, end;
};

/// Rows reached through pointers, as the original keeps its fields and its mask.
template <class T>
struct grid {
  std::uint64_t rows, columns;
  T** row;

  T* operator[](std::uint64_t j) const { return row[j]; }
};

/// The memory of a grid. A program would keep it from step to step; here it comes from the queue's pool, so that a call
/// does not pay for new pages.
template <class T>
class grid_memory {
 public:
  grid_memory(backend::queue& queue, std::uint64_t rows, std::uint64_t columns)
      : columns_(columns), values_(queue, rows * columns * sizeof(T)), row_(rows) {
    for (std::uint64_t j = 0; j < rows; ++j) row_[j] = values_.as<T>() + j * columns;
  }
  operator grid<T>() { return {row_.size(), columns_, row_.data()}; }

 private:
  std::uint64_t columns_;
  backend::buffer values_;
  std::vector<T*> row_;
};

template <class T, class Team>
void set_boundaries(grid<T> c, std::uint64_t g, const Team& team) {
  const std::uint64_t right = c.columns - 1 - g, bottom = c.rows - 1 - g;  // the last ones without ghosts
  team.each_row(g, bottom + 1, [=](std::uint64_t j) {
    const bool is_upper = j < c.rows / 2;
    c[j][is_upper ? g : right] = 1;
    for (std::uint64_t o = 1; o <= g; ++o) {
      c[j][g - o] = c[j][g];
      c[j][right + o] = c[j][right];
    }
  });
  for (std::uint64_t o = 1; o <= g; ++o) {
    std::copy_n(c[g], c.columns, c[g - o]);
    std::copy_n(c[bottom], c.columns, c[bottom + o]);
  }
}

/// Applies a mask of any size and weights.
template <class T, class Team>
void convolve(grid<T> c, grid<T> mask, grid<T> lap, const Team& team) {
  const std::uint64_t g = mask.rows / 2;
  team.each_point({g, c.rows - g}, {g, c.columns - g}, [=](std::uint64_t j, std::uint64_t i) {
    T value = 0;
    for (std::uint64_t mj = 0; mj < mask.rows; ++mj)
      for (std::uint64_t mi = 0; mi < mask.columns; ++mi) value += mask[mj][mi] * c[j + mj - g][i + mi - g];
    lap[j][i] = value;
  });
}

template <class T, class Team>
void update(grid<T> old, grid<T> lap, T rate, std::uint64_t g, grid<T> next, const Team& team) {
  team.each_point({g, old.rows - g}, {g, old.columns - g},
                  [=](std::uint64_t j, std::uint64_t i) { next[j][i] = old[j][i] + rate * lap[j][i]; });
}

template <class T, class Team>
void take_steps(const registry::problem& p, const T* field, T* result, backend::cpu::queue& queue, const Team& team) {
  const diffuse::sizes s(p);
  const diffuse::mask shape = diffuse::mask_of(p);
  const diffuse::weights<T> w = diffuse::weights_in<T>(p);
  const std::uint64_t g = diffuse::radius_of(shape), rows = s.rows + 2 * g, columns = s.columns + 2 * g;
  grid_memory<T> mask_memory(queue, 2 * g + 1, 2 * g + 1);
  grid_memory<T> first(queue, rows, columns), second(queue, rows, columns), third(queue, rows, columns);
  const grid<T> mask = mask_memory, lap = third;
  grid<T> old = first, next = second;
  std::ranges::copy(diffuse::square_of(shape, w), mask[0]);
  for (std::uint64_t j = 0; j < s.rows; ++j) std::copy_n(field + j * s.columns, s.columns, old[j + g] + g);
  for (std::uint64_t done = 0; done < s.steps; ++done) {
    set_boundaries(old, g, team);
    convolve(old, mask, lap, team);
    update(old, lap, w.rate, g, next, team);
    std::swap(old, next);
  }
  for (std::uint64_t j = 0; j < s.rows; ++j) std::copy_n(old[j + g] + g, s.columns, result + j * s.columns);
}

/// A peer that computes the steps with a team made from the queue.
template <class Team>
void run_with(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
              backend::queue& on) {
  if (diffuse::copies_only(p, where, on)) return;
  auto& queue = static_cast<backend::cpu::queue&>(on);
  with_float(p.type,
             [&]<class T>(T) { take_steps(p, where.in[0].as<const T>(), where.out[0].as<T>(), queue, Team(queue)); });
}

inline std::string threads_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (diffuse::sizes(p).is_band()) return "it steps whole fields";
  return on.info().name == "cpu:serial" ? "it runs on several threads, and cpu:serial has one" : "";
}

inline registry::variant peer(std::string_view name, std::string_view source,
                              decltype(registry::variant::unsupported) unsupported,
                              decltype(registry::variant::run) run) {
  registry::variant made = cpu_peer("diffuse", name, source, unsupported, run);
  made.types = float_types;
  made.bound = 0;  // the laboratory's fields are finite
  return made;
}

}  // namespace tilewise::peers::hiperc
