// SPDX-License-Identifier: Apache-2.0
// Runs a chosen variant, on host memory or on operands of a device.
#pragma once

#include "call/operands.hpp"
#include "registry/choose.hpp"

namespace tilewise::call {

using registry::choice, registry::preferences;

/// Throws `invalid_argument`, with the algorithm's sentence, if the problem has no answer, or if it is inadvisable and
/// `wanted` does not allow that.
void admit(const problem& p, const preferences& wanted);

/// Whether the result must be checked (see `proof`). Waits for the device if the inputs must be read.
bool is_in_doubt(const problem& p, const bindings& where, backend::queue& queue);

/// One run of a chosen variant on host memory, in separate steps so that they can be timed. upload() and run() only
/// enqueue, unless the result must be checked.
class host_run {
 public:
  /// Pointers are in the order of the descriptor's inputs and outputs. An output that is also an input is used in
  /// place.
  host_run(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
           std::span<void* const> outputs);

  void upload();
  /// Throws what the descriptor's proof throws; the caller's outputs are then unchanged.
  void run();
  void download();  // waits

 private:
  const problem& problem_;
  const choice& how_;
  backend::queue& queue_;
  std::span<const void* const> inputs_;
  std::span<void* const> outputs_;
  operands operands_;
};

/// All three steps, or chunk by chunk where that is faster. In the second case the time that the device computes is
/// added to `computing_ns`, unless that is null.
void run_on_host(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
                 std::span<void* const> outputs, double* computing_ns = nullptr);

/// Enqueues the work on operands of the queue's device. If the result must be checked, waits for it and throws if the
/// check fails; the outputs are then wrong.
void run_in_place(const problem& p, const choice& how, backend::queue& queue, const bindings& where);

}  // namespace tilewise::call
