// The memory that a group's rows share on their device.
#pragma once

#include "lab/verify.hpp"

#include <optional>

namespace tilewise::lab {

/// Bytes on the device for one set of operands and the copy's target.
std::uint64_t operand_bytes(const registry::problem& p);

class operand_sets {
 public:
  /// `count` copies of the operands, for cold samples that must not find the last one's data.
  operand_sets(const verified_case& inputs, backend::queue& queue, unsigned count);

  std::size_t count() const { return sets_.size(); }
  const registry::operands& operands(std::size_t set) const { return sets_[set]; }
  const registry::memories& set(std::size_t i) const { return sets_[i].where(); }
  backend::memory copy_source(std::size_t set) const { return sets_[set].where().in[0]; }
  backend::memory copy_target() const { return own_target_ ? *own_target_ : sets_.front().where().out[0]; }

  /// Of set 0, which is the one that is checked.
  void poison_outputs() { sets_.front().poison_outputs(); }
  registry::host_operands download_outputs() const;

 private:
  const verified_case& case_;
  std::vector<registry::operands> sets_;
  std::optional<backend::buffer> own_target_;  // of copies, where the first output is too small
};

}  // namespace tilewise::lab
