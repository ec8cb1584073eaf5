// SPDX-License-Identifier: Apache-2.0
// What:   diffusion with several steps per pass over memory; remaining steps go in passes of 4, 2 and 1.
// Order:  shared.cuh.
// Shape:  temporal.cuh; for one step direct.cuh.
// Limits: fields narrower than a strip go one step per pass.
// Twins:  serial.cpp.
#include "diffuse/cuda/direct.cuh"
#include "diffuse/cuda/temporal.cuh"
#include "registry/variant.hpp"

#include <bit>

namespace tilewise::impl::diffuse {

namespace {

constexpr std::array<unsigned, 5> depths{1, 2, 4, 6, 8};
constexpr std::array<unsigned, 6> warp_counts{12, 16, 24, 32, 48, 96};
constexpr std::array<registry::tuning_axis, 2> axes{{{"steps", depths, 8}, {"warps", warp_counts, 32}}};
constexpr int lane_columns = 4;

/// The most steps per pass for which the registers suffice.
constexpr unsigned most_steps(mask m) { return m == mask::five_points ? 8 : radius_of(m) == 1 ? 6 : 4; }

/// Passes of `depth` steps, and then one for each binary digit of the rest.
std::uint64_t passes_for(std::uint64_t steps, std::uint64_t depth) {
  return steps / depth + static_cast<unsigned>(std::popcount(steps % depth));
}

template <class T, mask Mask>
void launch_pass(unsigned depth, const stage& now, const field<T>& f, unsigned warps, queue& q) {
  const T* const from = now.from.as<const T>();
  T* const to = now.to.as<T>();
  switch (depth) {
    case 1: return launch_direct<T, Mask>(from, to, f, q);
    case 2: return launch_strips<T, Mask, lane_columns, 2>(from, to, f, warps, q);
    case 4: return launch_strips<T, Mask, lane_columns, 4>(from, to, f, warps, q);
    case 6: return launch_strips<T, Mask, lane_columns, std::min(6u, most_steps(Mask))>(from, to, f, warps, q);
    default: return launch_strips<T, Mask, lane_columns, most_steps(Mask)>(from, to, f, warps, q);
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [steps, warps] = t.of(axes);
  auto& q = enter(on);
  if (copies_only(p, where, q)) return;
  const sizes s(p);
  const bool is_narrow = s.columns < warp_size * lane_columns;
  const std::uint64_t most = is_narrow ? 1 : std::min(steps, most_steps(mask_of(p))),
                      passes = passes_for(s.steps, most);
  const backend::buffer workspace(q, passes > 1 ? s.elements() * size_of(p.type) : 0);
  with_type_and_mask(p, [&]<class T, mask Mask>(T, mask_constant<Mask>) {
    std::uint64_t left = s.steps;
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      const auto depth = static_cast<unsigned>(left < most ? std::bit_floor(left) : most);
      launch_pass<T, Mask>(depth, stage(where, workspace, passes, pass), field<T>(p),
                           warps * q.device().info().compute_units, q);
      left -= depth;
    }
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  const sizes s(p);
  return too_many_groups(direct_groups_across(s.columns, 16 / size_of(p.type)) * direct_groups_down(s.rows));
}

}  // namespace

registry::variant cuda_temporal_variant() {
  return {.algorithm = "diffuse",
          .backend = "cuda",
          .name = "temporal",
          .types = float_types,
          .source =
              "streams of rows in registers: K. Matsumura et al., AN5D: automated stencil framework for "
              "high-degree temporal blocking on GPUs (2020)",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::diffuse
