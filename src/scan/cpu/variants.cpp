// SPDX-License-Identifier: Apache-2.0
// What:   scan on the CPU in one pass over memory.
// Order:  tiles are aligned blocks; the block stack over their values gives each its carry; the downsweep starts there.
// Shape:  a worker takes the next tile, computes its block values (tiles), waits for its turn at the block stack
//         (spine), and writes the outputs while the tile is still in its cache (finish). Up to 4096 elements are one
//         tile on the calling thread.
// Limits: none; in place too, since a tile reads only itself.
// Twins:  serial.cpp; the kernels are in reduce/cpu/kernels.cpp and kernels.cpp.
#include "backend/cpu/device.hpp"
#include "backend/cpu/wait.hpp"
#include "order/block_stack.hpp"
#include "reduce/cpu/kernels.hpp"
#include "registry/variant.hpp"
#include "scan/cpu/kernels.hpp"
#include "scan/problem.hpp"

#include <atomic>

namespace tilewise::impl::scan {

namespace {

/// The block stack, which tiles use in order of position. Nothing in a turn can fail, so no tile waits forever.
template <class T, class Op>
class spine {
 public:
  struct ends {
    T before, after;
  };
  explicit spine(T first) : first_(first), carry_(first) {}

  ends pass(std::uint64_t index, T value, unsigned level) {
    const T before = wait_for(index);
    blocks_.push(value, level);
    const T after = carry_ = blocks_.fold_onto(first_);
    turn_.store(index + 1, std::memory_order_release);
    return {before, after};
  }
  /// The carry of a tile that comes after `index` others.
  T wait_for(std::uint64_t index) const {
    backend::cpu::spin_until([&] { return turn_.load(std::memory_order_acquire) == index; });
    return carry_;
  }

 private:
  order::block_stack<T, Op> blocks_;
  const T first_;  // the prefix before the first tile
  T carry_;
  std::atomic<std::uint64_t> turn_{0};
};

template <class T, class Op>
void scan_values(const T* in, T* out, std::uint64_t n, descent<T> how, std::uint64_t tile, backend::cpu::queue& queue) {
  const reduce::cpu_kernels<T>& kernels = reduce::kernels_for<T>(queue.level(), Op::id);
  const auto downsweep = kernels_for<T>(queue.level(), Op::id).downsweep;
  const std::uint64_t whole = n / tile, rest = n % tile, slot = kernels.scratch_elements(tile);
  const unsigned level = static_cast<unsigned>(std::countr_zero(tile));
  const backend::buffer scratch(queue, queue.threads() * slot * sizeof(T));
  spine<T, Op> carries(how.carry);

  queue.for_each_tile(whole + (rest != 0), [&](std::uint64_t i, unsigned worker) {
    T* const levels = scratch.as<T>() + worker * slot;
    const T* const from = in + i * tile;
    const std::uint64_t count = i == whole ? rest : tile;
    kernels.upsweep(from, count, levels);
    descent<T> mine = how;
    if (i == whole) {
      mine.carry = carries.wait_for(i);
      return downsweep(from, out + i * tile, count, levels, mine);
    }
    const T value = kernels.fold(from, tile, levels, Op::template identity<T>());
    const auto ends = carries.pass(i, value, level);
    mine.carry = ends.before;
    mine.next = &ends.after;
    // The workers mostly take turns.
    if (i + queue.threads() < whole) mine.ahead = from + queue.threads() * tile;
    downsweep(from, out + i * tile, count, levels, mine);
  });
}

/// Scans a short array on the calling thread: a workspace and a queue would take longer than the work.
template <class T, class Op>
void scan_few(const registry::problem& p, const T* in, T* out, const backend::cpu::queue& queue) {
  const T init = init_of<T>(p);
  kernels_for<T>(queue.level(), Op::id).small(in, out, p.n(), starts_from_init(p) ? &init : nullptr, !is_exclusive(p));
}

}  // namespace

bool worth_streaming(const registry::bindings& where, std::uint64_t bytes, const backend::queue& queue) {
  return where.in[0].as<char>() != where.out[0].as<char>() &&
         static_cast<const backend::cpu::queue&>(queue).exceeds_cache(2 * bytes);
}

void run_on_cpu(const registry::problem& p, const registry::bindings& where, std::uint64_t tile, bool stream,
                backend::queue& q) {
  auto& queue = static_cast<backend::cpu::queue&>(q);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      constexpr T identity = Op::template identity<T>();
      const T *const carry = carry_of<T>(p, where), *const in = where.in[0].as<const T>();
      T* const out = where.out[0].as<T>();
      if (carry == nullptr && p.n() != 0 && p.n() <= reduce::small_limit) return scan_few<T, Op>(p, in, out, queue);
      const descent<T> how{.carry = carry == nullptr ? identity : carry[0],
                           .init = starts_from_init(p) ? init_of<T>(p) : identity,
                           .inclusive = !is_exclusive(p),
                           .stream = stream};
      scan_values<T, Op>(in, out, p.n(), how, tile, queue);
      if (ends_with_carry(p) && p.n() != 0)
        out[p.n() - 1] = order::canonical(Op::template apply<T>(how.init, carry[1]));
    });
  });
}

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(cpu_axes);
  run_on_cpu(p, where, tile, worth_streaming(where, p.n() * size_of(p.type), q), q);
}

}  // namespace

std::vector<registry::variant> scan_cpu_variants() {
  return {{.algorithm = "scan",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "G. E. Blelloch, Prefix Sums and Their Applications (1990); tiles in turn: W. Zhang et al., "
                     "Parallel Prefix Sum with SIMD (2020)",
           .tuning = cpu_axes,
           .run = run}};
}

}  // namespace tilewise::impl::scan
