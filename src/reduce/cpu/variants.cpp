// SPDX-License-Identifier: Apache-2.0
// What:   reduce on the CPU: tiles with vectors, in parallel.
// Order:  tiles are aligned blocks; their values are the elements of the next level of the same tree.
// Shape:  tiles, at least four per worker if there are several workers; a worker takes the next tile when it is done.
//         Spine: the same kernel reduces the tiles' values. Finish: continues with the rest of the array. Up to 4096
//         elements are one tile on the calling thread.
// Limits: none.
// Twins:  serial.cpp; the kernels are in kernels.cpp.
#include "backend/cpu/device.hpp"
#include "order/operators.hpp"
#include "reduce/cpu/kernels.hpp"
#include "reduce/problem.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::reduce {

namespace {

constexpr std::array<unsigned, 4> tile_lengths{1024, 8192, 32768, 131072};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 131072}}};
/// At least so many tiles per thread if there are several threads. With the longest tiles, 2^20 elements would be eight
/// tiles, which leave half of 16 cores idle.
constexpr std::uint64_t tiles_per_thread = 4;
constexpr std::uint64_t shortest_tile = 16384;  // below this, taking a tile shows beside its work

/// The longest tile, or a shorter one so that every worker gets some.
std::uint64_t tile_for(std::uint64_t n, std::uint64_t longest, const backend::cpu::queue& queue) {
  if (n < 2 * longest) return longest;
  const std::uint64_t share = std::bit_floor(n / (queue.threads() * tiles_per_thread));
  return std::min(longest, std::max(share, shortest_tile));
}

template <class T, class Op>
T prefix_of(const T* in, std::uint64_t n, std::uint64_t tile, backend::cpu::queue& queue) {
  const cpu_kernels<T>& kernels = kernels_for<T>(queue.level(), Op::id);
  constexpr T identity = Op::template identity<T>();
  const std::uint64_t whole = n / tile, rest = n % tile, workers = queue.threads();
  const std::uint64_t slot = kernels.scratch_elements(tile);
  const backend::buffer scratch(queue, (workers + 1) * slot * sizeof(T));
  const backend::buffer values(queue, (whole + kernels.scratch_elements(whole)) * sizeof(T));
  T* const rest_levels = scratch.as<T>() + workers * slot;

  queue.for_each_tile(whole + (rest != 0), [&](std::uint64_t i, unsigned worker) {
    if (i == whole) return kernels.upsweep(in + whole * tile, rest, rest_levels);
    T* const levels = scratch.as<T>() + worker * slot;
    kernels.upsweep(in + i * tile, tile, levels);
    values.as<T>()[i] = kernels.fold(in + i * tile, tile, levels, identity);
  });

  T* const spine = values.as<T>() + whole;
  kernels.upsweep(values.as<T>(), whole, spine);
  const T carry = kernels.fold(values.as<T>(), whole, spine, identity);
  return kernels.fold(in + whole * tile, rest, rest_levels, carry);
}

/// Reduces a short array on the calling thread: a workspace and a queue would take longer than the work.
template <class T, class Op>
T result_of_few(const registry::problem& p, const T* in, const backend::cpu::queue& queue) {
  const T init = init_of<T>(p);
  return kernels_for<T>(queue.level(), Op::id).small(in, p.n(), has_init(p) ? &init : nullptr);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      const T* const in = where.in[0].as<const T>();
      T& out = *where.out[0].as<T>();
      if (p.n() != 0 && p.n() <= small_limit)
        out = result_of_few<T, Op>(p, in, queue);
      else
        out = order::canonical(result_of<T, Op>(p, prefix_of<T, Op>(in, p.n(), tile_for(p.n(), tile, queue), queue)));
    });
  });
}

}  // namespace

std::vector<registry::variant> reduce_cpu_variants() {
  return {{.algorithm = "reduce",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md; pairwise summation: N. J. Higham, SIAM J. Sci. Comput. 14 (1993)",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::reduce
