// SPDX-License-Identifier: Apache-2.0
// The memory that a group's rows share on their device.
#pragma once

#include "lab/verify/verify.hpp"

#include <optional>

namespace tilewise::lab {

/// Cold samples cycle through this many sets of operands, so that none finds the data of its last run.
inline constexpr unsigned cold_sets = 3;

/// Bytes on the device for one set of operands and the target of the copy.
std::uint64_t operand_bytes(const registry::problem& p);

class operand_sets {
 public:
  operand_sets(const verified_case& inputs, backend::queue& queue, unsigned count);

  std::size_t count() const { return sets_.size(); }
  const registry::operands& operands(std::size_t set) const { return sets_[set]; }
  const registry::bindings& set(std::size_t i) const { return sets_[i].where(); }
  /// For a copy of the set's first input: it goes to the first output, if that has room.
  const registry::bindings& copied(std::size_t set) const { return copied_[set]; }

  /// Of set 0, the one that is checked.
  void poison_outputs() { sets_.front().poison_outputs(); }
  registry::host_operands download_outputs() const;

 private:
  const verified_case& case_;
  std::vector<registry::operands> sets_;
  std::vector<registry::bindings> copied_;
  std::optional<backend::buffer> own_target_;
};

}  // namespace tilewise::lab
