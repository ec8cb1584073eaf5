// SPDX-License-Identifier: Apache-2.0
// From a problem to its result in host memory.
#pragma once

#include "registry/choose.hpp"
#include "registry/operands.hpp"

namespace tilewise::registry {

/// Throws `invalid_argument`, with the algorithm's sentence, unless the problem has an answer and `wanted` lets it be
/// computed.
void admit(const problem& p, const preferences& wanted);

/// Whether the result needs a proof that it is the answer. Waits for the device, if it has to look.
bool is_in_doubt(const problem& p, const bindings& where, backend::queue& queue);

/// One run of a chosen variant on host memory, step by step for those who time the steps. The first two only enqueue,
/// unless the result needs a proof.
class host_run {
 public:
  /// Pointers are in the order of the descriptor's inputs and outputs. An output that is also an input is used in
  /// place.
  host_run(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
           std::span<void* const> outputs);

  void upload();
  /// Throws what the descriptor's proof does; the caller's outputs are then as they were.
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

/// All three steps, or piece by piece where that is quicker; then `computing_ns`, if it is there, grows by the time of
/// the pieces' work on the device.
void run_on_host(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
                 std::span<void* const> outputs, double* computing_ns = nullptr);

/// Enqueues the work on operands of the queue's device. Where the result needs a proof it waits, and throws if the
/// proof fails; what the outputs then hold is not the answer.
void run_in_place(const problem& p, const choice& how, backend::queue& queue, const bindings& where);

}  // namespace tilewise::registry
