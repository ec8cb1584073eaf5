// SPDX-License-Identifier: Apache-2.0
// Sorts host arrays that are too large for a device: the device sorts runs, and the CPU merges them.
#include "divide/pieces.hpp"
#include "sort/cpu/merge.hpp"

#include <bit>

namespace tilewise::impl::sort {

namespace {

std::uint64_t bytes_each(const registry::problem& p) { return size_of(p.type) + payload_size(payload_of(p)); }

/// Whether the device has room for input, output, a workspace, and tables, which take up to a byte per element in
/// OpenCL's sweeps.
bool fits(const registry::problem& p, const device_info& on) {
  return divide::has_room(on, p.n() * (3 * bytes_each(p) + 1),
                          p.n() * std::max(size_of(p.type), payload_size(payload_of(p))));
}

/// Whether to sort in runs. Arrays that fit are sorted whole, since merging costs more than runs save. Runs of a
/// variant with another order could not be merged.
bool is_possible(const registry::problem& p, const registry::choice& how, const backend::device& on) {
  return how.variant->order == registry::claim::tilewise && !fits(p, on.info());
}

/// The length of a run: three runs with their outputs, a workspace and its tables fill the memory. It is a power of
/// two, since these are the sizes of pools, and so that pieces of merges divide it.
std::uint64_t run_length(const registry::problem& p, const device_info& on) {
  const std::uint64_t room = divide::share_of_memory(on, 1, 8);
  return std::bit_floor(std::max<std::uint64_t>(1, room / bytes_each(p)));
}

/// Writes sorted runs of `length` elements, one after the other.
template <class Bits, class Value>
void make_runs(const registry::problem& p, const registry::choice& how, backend::queue& queue,
               elements<Bits, Value> from, elements<Bits, Value> to, std::uint64_t length) {
  const std::array<const void*, 2> in{from.keys, from.values};
  const std::array<void*, 2> out{to.keys, to.values};
  const auto count_of = [&](std::uint64_t i) { return std::min(length, p.n() - i * length); };
  const auto slice_of = [&](std::uint64_t i, std::uint64_t size) {
    return divide::slice{i * length * size, count_of(i) * size};
  };
  divide::run_pieces(
      queue, {in, out}, ceil_div(p.n(), length),
      [&](std::uint64_t i) {
        divide::piece run;
        run.in[0] = run.out[0] = slice_of(i, sizeof(Bits));
        if constexpr (moves<Value>) run.out[1] = slice_of(i, sizeof(Value));
        if (has_values(p)) run.in[1] = run.out[1];
        return run;
      },
      [&](std::uint64_t i, const registry::bindings& where) {
        registry::problem run = p;
        run.shape = {count_of(i)};
        divide::run_part(how, run, where, queue);
      });
}

/// Converts keys to codes, which merges compare, and indices within a run to indices in the whole array.
template <class Bits, class Value>
void number_and_encode(const registry::problem& p, elements<Bits, Value> runs, std::uint64_t length,
                       sort_code<Bits> code, std::uint64_t tile, backend::cpu::queue& queue) {
  const bool has_indices = payload_of(p) == payload::indices;
  if (code.is_identity() && !has_indices) return;
  queue.for_each_tile(ceil_div(p.n(), tile), [&](std::uint64_t index, unsigned) {
    const std::uint64_t begin = index * tile, end = std::min(p.n(), begin + tile);
    for (std::uint64_t i = begin; i < end; ++i) runs.keys[i] = code.encode(runs.keys[i]);
    if constexpr (moves<Value>)
      if (has_indices)
        for (std::uint64_t i = begin; i < end; ++i) runs.values[i] += static_cast<Value>(begin / length * length);
  });
}

void run(const registry::problem& p, const registry::choice& how, backend::queue& queue,
         const registry::host_pointers& host) {
  constexpr std::uint64_t merged_at_once = 32768;
  const auto cpu = backend::find_device("cpu", {});
  auto& threads = static_cast<backend::cpu::queue&>(cpu->queue());
  const std::uint64_t length = run_length(p, queue.device().info()), tile = std::min(length, merged_at_once);
  registry::bindings where;
  for (std::size_t i = 0; i < p.what->inputs(p).size(); ++i) where.in[i].base = const_cast<void*>(host.in[i]);
  for (std::size_t o = 0; o < p.what->outputs(p).size(); ++o) where.out[o].base = host.out[o];
  with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& task) {
    const merge_rounds<Bits, Value> rounds(task, length, threads);
    make_runs(p, how, queue, task.in, rounds.at(0, 0), length);
    number_and_encode(p, rounds.at(0, 0), length, task.code, tile, threads);
    rounds.run_from(length, tile);
  });
}

}  // namespace

const registry::division division{.is_possible = is_possible, .run = run};

}  // namespace tilewise::impl::sort
