// SPDX-License-Identifier: Apache-2.0
// A problem's operands in a device's memory: made, filled, fetched and released in one place, for calls, commands and
// the laboratory alike.
#pragma once

#include "registry/algorithm.hpp"

#include <deque>
#include <span>

namespace tilewise::registry {

/// What operands hold, each in memory of its own on the host.
using host_operands = std::vector<std::vector<std::byte>>;
std::vector<const void*> pointers_to(const host_operands& inputs);
std::vector<void*> pointers_to(host_operands& outputs);

/// Host memory is given by pointers in the order of the descriptor's inputs or outputs, which say how much each holds.
class operands {
 public:
  /// Memory of its own for each.
  operands(const problem& p, backend::queue& queue);

  /// Over host memory: a device that can works on it in place, any other one on copies. An output that is also an input
  /// shares its memory.
  operands(const problem& p, backend::queue& queue, std::span<const void* const> inputs,
           std::span<void* const> outputs);

  operands(operands&&) = default;
  operands(const operands&) = delete;

  const bindings& where() const { return where_; }

  /// Outputs that are host memory worked on in place get memory of their own, until they are downloaded. They have no
  /// gaps.
  void keep_results_apart();

  /// Fills the inputs; host memory that is used in place holds them already.
  void upload(std::span<const void* const> inputs) const;
  /// Outputs with gaps between their rows keep what the gaps hold.
  void upload_gaps(std::span<void* const> outputs) const;
  /// Waits for the device.
  void download(std::span<void* const> outputs) const;

  /// Fills the outputs with bytes that no result is likely to consist of.
  void poison_outputs() const;

 private:
  backend::memory own(const operand& o);

  backend::queue* queue_;
  std::vector<operand> in_, out_;
  std::deque<backend::buffer> buffers_;
  bindings where_;
  bool in_place_ = false;
  bool apart_ = false;  // the outputs are not
};

}  // namespace tilewise::registry
