// SPDX-License-Identifier: Apache-2.0
// What:   all steps in one launch, for a field that fits the registers of the chip.
// Order:  shared.cuh.
// Shape:  a group holds a tile and its halo, a warp some of its rows in registers; warps share their outer rows. When
//         the halo is used up, the group sends the frame of its own part and waits for the parts of its halo that
//         others own. Packets carry the number of their round, so there are no flags and no fences. They alternate
//         between two fields: a group one round ahead writes to the other one, and it cannot be two ahead. All groups
//         must run at once, so the launch is a cooperative one.
// Limits: as many tiles as there are multiprocessors.
// Twins:  serial.cpp.
#include "backend/cuda/queue.hpp"
#include "diffuse/cuda/resident.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::diffuse {

namespace {

/// Steps from one exchange to the next with masks of radius 1. Masks of radius 2 take half as many.
constexpr std::array<unsigned, 4> depths{2, 4, 8, 16};
constexpr std::array<registry::tuning_axis, 1> axes{{{"steps", depths, 8}}};

/// The tiles of a field, if any.
struct tile_plan {
  unsigned across, down, warps;
  bool is_ragged;  // the field is smaller than a tile
  explicit operator bool() const { return warps != 0; }
};

inline std::size_t list_bytes(std::uint64_t width, std::uint64_t height, std::uint64_t halo) {
  const std::uint64_t inner = width > 2 * halo && height > 2 * halo ? (width - 2 * halo) * (height - 2 * halo) : 0;
  return (width * height - inner) * sizeof(ushort2);
}

/// How many tiles lie along `length`. Without its halos a tile must be at least as long as two halos; otherwise there
/// are none.
inline std::uint64_t exchanging_tiles(std::uint64_t length, std::uint64_t size, std::uint64_t halo) {
  return length <= size || size >= 4 * halo ? tiles_along(length, size, halo) : 0;
}

/// The tiles with the fewest rows whose number does not exceed that of multiprocessors.
inline tile_plan plan_for(std::uint64_t rows, std::uint64_t columns, std::uint64_t width, std::uint64_t rows_a_warp,
                          unsigned most_warps, std::uint64_t halo, std::uint64_t units) {
  const std::uint64_t across = exchanging_tiles(columns, width, halo);
  for (unsigned warps = 1; warps <= most_warps; ++warps) {
    const std::uint64_t height = warps * rows_a_warp, down = exchanging_tiles(rows, height, halo);
    const std::uint64_t tiles = across * down;
    if (tiles != 0 && tiles <= units)
      return {static_cast<unsigned>(across), static_cast<unsigned>(down), warps, columns < width || rows < height};
  }
  return {};
}

using small_tile = tile_shape<2, 4, 16>;
using large_tile = tile_shape<4, 6, 16>;

unsigned steps_between(const registry::problem& p, const registry::tuning& t) {
  const auto [steps] = t.of(axes);
  return steps / radius_of(mask_of(p));
}

template <class Shape>
std::size_t shared_bytes(const registry::problem& p, const tile_plan& plan, unsigned depth) {
  const unsigned radius = radius_of(mask_of(p));
  return room_bytes(radius, Shape::rows, Shape::width, size_of(p.type), plan.warps) +
         list_bytes(Shape::width, plan.warps * Shape::rows, depth * radius);
}

template <class Shape>
tile_plan plan_of(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const sizes s(p);
  const unsigned depth = steps_between(p, t);
  const tile_plan plan = plan_for(s.rows, s.columns, Shape::width, Shape::rows, Shape::warps,
                                  depth * radius_of(mask_of(p)), on.info().compute_units);
  return shared_bytes<Shape>(p, plan, depth) <= on.info().local_memory ? plan : tile_plan{};
}

template <class T, mask Mask, class Shape, bool Ragged>
void launch(const registry::problem& p, const registry::bindings& where, const tile_plan& plan, unsigned depth,
            queue& q) {
  auto* const kernel =
      reinterpret_cast<const void*>(stay_resident<T, Mask, Shape::columns, Shape::rows, Shape::warps, Ragged>);
  const sizes s(p);
  const std::size_t bytes = shared_bytes<Shape>(p, plan, depth);
  const bool exchanges = s.steps > depth;
  const std::uint64_t packet_bytes = exchanges ? s.elements() * sizeof(packet<T>) : 0;
  const backend::buffer both(q, 2 * packet_bytes);
  exchange_fields<T> exchange{{both.as<packet<T>>(), both.as<packet<T>>() + packet_bytes / sizeof(packet<T>)}};
  if (exchanges) TW_CUDA(cudaMemsetAsync(exchange.side[0], 0, 2 * packet_bytes, q.stream()));  // of no round
  allow_shared_memory(kernel, q);
  const T* from = where.in[0].as<const T>();
  T* to = where.out[0].as<T>();
  field<T> f(p);
  auto steps = static_cast<unsigned>(s.steps);
  void* arguments[]{&from, &to, &f, &exchange, &steps, &depth};
  TW_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(plan.across, plan.down), dim3(plan.warps * warp_size), arguments,
                                      bytes, q.stream()));
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  auto& q = enter(on);
  if (copies_only(p, where, q)) return;
  with_type_and_mask(p, [&]<class T, mask Mask>(T, mask_constant<Mask>) {
    const auto go = [&]<class Shape>(Shape, const tile_plan& plan) {
      const unsigned depth = steps_between(p, t);
      plan.is_ragged ? launch<T, Mask, Shape, true>(p, where, plan, depth, q)
                     : launch<T, Mask, Shape, false>(p, where, plan, depth, q);
    };
    if (const tile_plan plan = plan_of<small_tile>(p, q.device(), t))
      go(small_tile{}, plan);
    else
      go(large_tile{}, plan_of<large_tile>(p, q.device(), t));
  });
}

/// Whether the device has room for both fields and both sides of the exchange.
bool has_room(const registry::problem& p, const device_info& on) {
  const std::uint64_t element = p.type == dtype::f32 ? sizeof(packet<float>) : sizeof(packet<double>);
  return 2 * sizes(p).elements() * (size_of(p.type) + element) <= on.memory / 5 * 4;
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  if (sizes(p).steps > 0x7fffffff) return "its steps are counted in 31 bits";
  if (!has_room(p, on.info())) return "the packets of its exchanges do not fit the memory of " + on.info().name;
  if (plan_of<small_tile>(p, on, t) || plan_of<large_tile>(p, on, t)) return "";
  return "the field does not fit the " + std::to_string(on.info().compute_units) + " multiprocessors of " +
         on.info().name;
}

std::string yields(const registry::problem& p, const backend::device&) {
  return sizes(p).steps > 6 ? "" : "so few steps are one or two passes over memory";
}

}  // namespace

bool resident_takes(const registry::problem& p, const backend::device& on) {
  return unsupported(p, on, registry::default_tuning(axes)).empty();
}

registry::variant cuda_resident_variant() {
  return {.algorithm = "diffuse",
          .backend = "cuda",
          .name = "resident",
          .types = float_types,
          .source =
              "the time loop in one persistent kernel: L. Zhang et al., PERKS: a locality-optimized execution "
              "model for iterative memory-bound GPU applications (2023)",
          .tuning = axes,
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::diffuse
