// The kernels of the best instruction set for calls so short that finding them would take longer than the work.
#pragma once

#include <tilewise/types.hpp>

#include <array>
#include <atomic>

namespace tilewise::backend::cpu {

/// One kernel an operator. Each entry begins as a function that finds the kernel, puts it there and calls it. So the
/// table is right before any initialisation at run time, and a call goes through no guard.
template <class Function>
using kernel_table = std::array<std::atomic<Function*>, all_ops.size()>;

template <class Function>
Function* kernel_of(const kernel_table<Function>& table, op operation) {
  return table[static_cast<std::size_t>(operation)].load(std::memory_order_relaxed);
}

}  // namespace tilewise::backend::cpu
