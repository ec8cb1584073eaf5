// SPDX-License-Identifier: Apache-2.0
// A table of the best instruction set's kernels, for calls so short that looking a kernel up would take longer than the
// work.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

#include <array>
#include <atomic>

namespace tilewise::backend::cpu {

/// One kernel per operator, from Family::kernel(level, operation). Each entry is initially a function that finds the
/// kernel, stores it in the entry and calls it. So the table is valid before any run-time initialization, and calls
/// need no check.
template <class Family, class Kernel = typename Family::kernel_type>
struct kernel_table;

template <class Family, class Result, class... Arguments>
struct kernel_table<Family, Result(Arguments...)> {
  static Result call(op operation, Arguments... arguments) {
    return entry(operation).load(std::memory_order_relaxed)(arguments...);
  }

 private:
  static std::array<std::atomic<Result (*)(Arguments...)>, all_ops.size()> entries;

  static auto& entry(op operation) { return entries[static_cast<std::size_t>(operation)]; }

  template <op Operation>
  static Result find(Arguments... arguments) {
    const auto found = Family::kernel(best_instruction_set(), Operation);
    entry(Operation).store(found, std::memory_order_relaxed);
    return found(arguments...);
  }
};

template <class Family, class Result, class... Arguments>
constinit std::array<std::atomic<Result (*)(Arguments...)>, all_ops.size()>
    kernel_table<Family, Result(Arguments...)>::entries{find<op::sum>, find<op::product>, find<op::min>, find<op::max>};

}  // namespace tilewise::backend::cpu
