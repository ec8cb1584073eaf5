// SPDX-License-Identifier: Apache-2.0
// A problem's operands in a device's memory: allocated, filled, downloaded and released here, for calls, commands and
// the lab.
#pragma once

#include "registry/algorithm.hpp"

#include <deque>
#include <span>

namespace tilewise::call {

using registry::bindings, registry::operand, registry::problem;

/// The contents of operands on the host, one buffer each.
using host_operands = std::vector<std::vector<std::byte>>;
std::vector<const void*> pointers_to(const host_operands& inputs);
std::vector<void*> pointers_to(host_operands& outputs);

/// Host memory is passed as pointers in the order of the descriptor's inputs or outputs; the descriptor gives the
/// sizes.
class operands {
 public:
  /// Allocates memory for each operand.
  operands(const problem& p, backend::queue& queue);

  /// Operands in host memory: a device that can use host memory works on it in place, any other on copies. An output
  /// that is also an input shares its memory.
  operands(const problem& p, backend::queue& queue, std::span<const void* const> inputs,
           std::span<void* const> outputs);

  operands(operands&&) = default;
  operands(const operands&) = delete;

  const bindings& where() const { return where_; }

  /// Gives outputs that would be computed in place in host memory separate memory until they are downloaded. Outputs
  /// must have no gaps.
  void keep_results_apart();

  /// Fills the inputs. Does nothing for host memory that is used in place.
  void upload(std::span<const void* const> inputs) const;
  /// Uploads outputs with gaps between their rows, so that the gaps keep their contents.
  void upload_gaps(std::span<void* const> outputs) const;
  /// Waits for the device.
  void download(std::span<void* const> outputs) const;

  /// Fills the outputs with bytes that are unlikely in a result.
  void poison_outputs() const;

 private:
  backend::memory own(const operand& o);

  backend::queue* queue_;
  std::vector<operand> in_, out_;
  std::deque<backend::buffer> buffers_;
  bindings where_;
  bool in_place_ = false;
  bool apart_ = false;  // the outputs have separate memory, see keep_results_apart()
};

}  // namespace tilewise::call
