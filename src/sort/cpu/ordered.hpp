// SPDX-License-Identifier: Apache-2.0
// Keys that are in order already, or in the opposite one: a look at each, and a copy.
#pragma once

#include "sort/cpu/tiles.hpp"
#include "sort/cpu/vector_kernels.hpp"

#include <atomic>

namespace tilewise::impl::sort {

template <class Bits, class Value>
class ordered_keys {
 public:
  ordered_keys(const sort_task<Bits, Value>& task, backend::cpu::queue& queue)
      : task_(task), queue_(queue), succeeds_(vector_kernels_for<Bits>(queue.level()).succeeds) {}

  /// Writes the output, if the input is in order or in the opposite one; else nothing.
  bool settle() const {
    if (holds(succession::ascending)) return copy(), true;
    // Equal keys alone may change places, since nobody can tell.
    if (holds(moves<Value> ? succession::falling : succession::descending)) return turn(), true;
    return false;
  }

 private:
  static constexpr std::uint64_t glance = 64, tile = 32768;

  bool holds(succession what) const {
    const Bits* const keys = task_.in.keys;
    if (!succeeds_(keys, std::min(task_.n, glance), task_.code, what)) return false;
    std::atomic<bool> all = true;
    sort_tiles(task_.n, tile, queue_).for_each([&](std::uint64_t, unsigned, std::uint64_t begin, std::uint64_t end) {
      if (all && !succeeds_(keys + begin, std::min(end + 1, task_.n) - begin, task_.code, what)) all = false;
    });
    return all;
  }

  Value value(std::uint64_t i) const { return task_.in.values == nullptr ? static_cast<Value>(i) : task_.in.values[i]; }

  void copy() const {
    sort_tiles(task_.n, tile, queue_).for_each([&](std::uint64_t, unsigned, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        task_.out.keys[i] = task_.in.keys[i];
        if constexpr (moves<Value>) task_.out.values[i] = value(i);
      }
    });
  }

  /// By pairs, so that it may be in place.
  void turn() const {
    const std::uint64_t last = task_.n - 1;
    const auto exchange = [last](auto* out, std::uint64_t i, auto front, auto back) {
      out[i] = back;
      out[last - i] = front;
    };
    const sort_tiles half(task_.n - task_.n / 2, tile, queue_);
    half.for_each([&](std::uint64_t, unsigned, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        exchange(task_.out.keys, i, task_.in.keys[i], task_.in.keys[last - i]);
        if constexpr (moves<Value>) exchange(task_.out.values, i, value(i), value(last - i));
      }
    });
  }

  const sort_task<Bits, Value>& task_;
  backend::cpu::queue& queue_;
  bool (*succeeds_)(const Bits*, std::uint64_t, sort_code<Bits>, succession);
};

}  // namespace tilewise::impl::sort
