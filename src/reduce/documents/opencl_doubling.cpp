// SPDX-License-Identifier: Apache-2.0
// What:   reduce/opencl:doubling: recursive doubling as it is taught, with one element per work-item. Each group sums
//         its elements, and the sums are summed in the same way until one is left.
// Order:  opencl_doubling.cl.
// Shape:  one launch per level.
// Limits: plain sums of at least one element.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "reduce/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::embedded {
extern const std::string_view reduce_doubling_cl;
}

namespace tilewise::impl::reduce {

namespace {

constexpr std::array<unsigned, 4> doubling_groups{32, 64, 256, 512};
constexpr std::array<registry::tuning_axis, 1> doubling_axes{{{"group_size", doubling_groups, 256}}};
constexpr std::array doubling_types{dtype::i32, dtype::f32};

/// The bound for sums in any other order (peers/variants.hpp). It is tight enough to detect a missing group.
constexpr double doubling_bound = 1e-2;

void run_doubling(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                  backend::queue& on) {
  const auto [group_size] = t.of(doubling_axes);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const std::size_t size = size_of(p.type);
  const cl_kernel kernel = queue.program(embedded::reduce_doubling_cl, backend::opencl::definitions_of(p.type, op::sum))
                               .kernel("tw_doubling");
  const backend::opencl::local_room partial{group_size * size};
  std::uint64_t room = 0;
  for (std::uint64_t count = p.n(); count > group_size;) room += count = ceil_div(count, group_size);
  const backend::buffer sums(queue, room * size);
  backend::memory from = where.in[0];
  std::uint64_t from_first = from.offset / size, to_first = 0, count = p.n();
  while (count > group_size) {
    const std::uint64_t groups = ceil_div(count, group_size);
    queue.launch_tiles(kernel, groups, group_size, from, from_first, count, backend::memory(sums), to_first, partial);
    from = sums;
    from_first = to_first;
    to_first += count = groups;
  }
  queue.launch_tiles(kernel, 1, group_size, from, from_first, count, where.out[0], where.out[0].offset / size, partial);
}

std::string doubling_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [group_size] = t.of(doubling_axes);
  if (operation_of(p) != op::sum || has_init(p) || p.n() == 0)
    return "it sums one element or more, without an initial value";
  return backend::opencl::too_large(on.info(), group_size, group_size * size_of(p.type));
}

}  // namespace

registry::variant opencl_doubling_variant() {
  return {.algorithm = "reduce",
          .backend = "opencl",
          .name = "doubling",
          .order = registry::claim::own,
          .types = doubling_types,
          .source = "recursive doubling: Hillis and Steele 1986, Data parallel algorithms",
          .tuning = doubling_axes,
          .unsupported = doubling_unsupported,
          .run = run_doubling,
          .bound = doubling_bound};
}

}  // namespace tilewise::impl::reduce
