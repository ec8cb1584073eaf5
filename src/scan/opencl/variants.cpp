// SPDX-License-Identifier: Apache-2.0
// What:   lists all variants of scan on OpenCL, and defines chunked and blelloch, which compute level by level.
// Order:  program.cl; each level's tiles are the next level's elements, up to one tile at the top.
// Shape:  2 * levels - 1 launches; chunked repeats them for each chunk.
// Limits: local memory for one tile of elements; f64 where the device has it; works in place.
// Twins:  serial.cpp.
#include "scan/opencl/variants.hpp"

#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "order/block_tree.hpp"
#include "registry/variant.hpp"
#include "scan/problem.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::embedded {
extern const std::string_view scan_cl;
}

namespace tilewise::impl::scan {

namespace {

using backend::buffer;
using backend::memory;
using registry::problem;
using registry::tuning;

/// A range of memory, counted in elements.
struct elements {
  backend::memory where;
  std::uint64_t first;
  std::uint64_t count;
};

/// One running scan: everything that is the same on every level and for every chunk.
struct sweep {
  backend::opencl::queue& queue;
  cl_kernel values;    // computes each tile's value
  cl_kernel prefixes;  // computes the outputs from the tiles' carries
  std::uint64_t tile;
  unsigned group_size;
  base::scalar_value init;
  std::size_t element_size;
  memory chunks;  // the block stack of the chunks done so far
  memory ends;    // the prefixes before and after the array, if it is a part of a longer one

  void level(const elements& in, const elements& out, std::uint32_t mode, std::uint64_t chunk) const {
    const std::uint64_t tiles = ceil_div(in.count, tile);
    const auto finish = [&](memory carries, std::uint32_t bits) {
      queue.launch_tiles(prefixes, tiles, group_size, in.where, in.first, in.count, carries, chunks, chunk, ends,
                         ends.offset / element_size, out.where, out.first, init, bits, tiles - 1);
    };
    if (tiles == 1) return finish(chunks, mode | top);
    const buffer carries(queue, (tiles + 1) * element_size);  // first the tiles' values, scanned in place
    queue.launch_tiles(values, tiles, group_size, in.where, in.first, in.count, memory(carries));
    const elements next{carries, 0, tiles};
    level(next, next, spine | (mode & (has_ends | whole)), chunk);
    finish(carries, mode);
  }
};

constexpr std::uint64_t chunk_stack_size = 64;  // one level for each bit of the number of chunks

void run_levels(const problem& p, const registry::bindings& where, backend::opencl::queue& queue,
                const std::string& definitions, const char* values, const char* prefixes, std::uint64_t tile,
                unsigned group_size, std::uint64_t chunk) {
  if (p.n() == 0) return;
  const std::size_t size = size_of(p.type);
  auto& program =
      queue.program(embedded::scan_cl, backend::opencl::definitions_of(p.type, operation_of(p)) + definitions);
  const buffer chunks(queue, chunk_stack_size * size);
  const sweep all{queue,
                  program.kernel(values),
                  program.kernel(prefixes),
                  tile,
                  group_size,
                  init_value(p),
                  size,
                  chunks,
                  has_carry(p) ? where.in[1] : memory(chunks)};
  const std::uint32_t mode = mode_of(p);
  const std::uint64_t length = chunk == 0 ? p.n() : std::max(chunk, tile);
  for (std::uint64_t first = 0; first < p.n(); first += length) {
    const std::uint64_t count = std::min(length, p.n() - first);
    const std::uint32_t place = (first + count == p.n() ? last : 0u) | (chunk != 0 && count == length ? whole : 0u);
    all.level({where.in[0], where.in[0].offset / size + first, count},
              {where.out[0], where.out[0].offset / size + first, count}, mode | place, first / length);
  }
}

// chunked

// Chunks that stay in the last-level cache make their second read free. "whole" saves launches instead.
constexpr std::array<unsigned, 5> chunk_values{0, 1, 2, 3, 4};
constexpr std::array<std::string_view, 5> chunk_words{"whole", "64Ki", "1Mi", "4Mi", "16Mi"};
constexpr std::array<std::uint64_t, 5> chunk_elements{0, 1 << 16, 1 << 20, 1 << 22, 1 << 24};
constexpr std::array<registry::tuning_axis, 3> chunked_axes{{{"chunk", chunk_values, 0, chunk_words},
                                                             {"group_size", order::block_tree_groups, 256},
                                                             {"items", order::block_tree_items, 16}}};

void run_chunked(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [chunk, group_size, items] = t.of(chunked_axes);
  const order::block_tree tree{group_size, items};
  run_levels(p, where, static_cast<backend::opencl::queue&>(queue), tree.definitions(), "tw_tiles", "tw_prefixes",
             tree.tile(), group_size, chunk_elements[chunk]);
}

std::string chunked_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [chunk, group_size, items] = t.of(chunked_axes);
  const std::uint64_t tile = order::block_tree{group_size, items}.tile() * size_of(p.type);
  return backend::opencl::too_large(on.info(), group_size, tile + tile / 8 + 2 * group_size * size_of(p.type));
}

// blelloch

constexpr std::array<unsigned, 13> pair_group_sizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
constexpr std::array<unsigned, 2> carry_values{0, 1};
constexpr std::array<std::string_view, 2> carry_words{"local", "direct"};
constexpr std::array<registry::tuning_axis, 2> blelloch_axes{
    {{"group_size", pair_group_sizes, 64}, {"carry", carry_values, 0, carry_words}}};

void run_blelloch(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [group_size, carry] = t.of(blelloch_axes);
  const std::string definitions =
      " -DTW_LOG_PAIRS=" + std::to_string(std::countr_zero(group_size)) + (carry == 1 ? " -DTW_CARRY_DIRECT=1" : "");
  run_levels(p, where, static_cast<backend::opencl::queue&>(queue), definitions, "tw_totals", "tw_sweeps",
             2 * std::uint64_t{group_size}, group_size, 0);
}

std::string blelloch_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, carry] = t.of(blelloch_axes);
  return backend::opencl::too_large(on.info(), group_size, (2 * std::uint64_t{group_size} + 2) * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> scan_opencl_variants() {
  return {{.algorithm = "scan",
           .backend = "opencl",
           .name = "chunked",
           .types = all_dtypes,
           .source = "reduce-then-scan: Dotsenko et al. 2008, Fast scan algorithms on graphics processors",
           .tuning = chunked_axes,
           .unsupported = chunked_unsupported,
           .run = run_chunked},
          {.algorithm = "scan",
           .backend = "opencl",
           .name = "blelloch",
           .types = all_dtypes,
           .source = "Blelloch 1990, Prefix sums and their applications",
           .tuning = blelloch_axes,
           .unsupported = blelloch_unsupported,
           .run = run_blelloch}};
}

}  // namespace tilewise::impl::scan
