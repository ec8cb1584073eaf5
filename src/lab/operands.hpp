// The memory that a group's rows share on their device.
#pragma once

#include "lab/verify.hpp"

#include <deque>

namespace tilewise::lab {

/// Bytes on the device for one set of operands and the copy's target.
std::uint64_t operand_bytes(const registry::problem& p);

class operands {
 public:
  /// `sets` copies of the operands, for cold samples that must not find the last one's data.
  operands(const verified_case& inputs, backend::queue& queue, unsigned sets);

  std::size_t sets() const { return sets_.size(); }
  const registry::memories& set(std::size_t i) const { return sets_[i]; }
  backend::memory copy_source(std::size_t set) const { return sets_[set].in[0]; }
  backend::memory copy_target() const { return copy_target_; }

  /// Fills the outputs of set 0 with bytes that no result is likely to be made of.
  void poison_outputs();
  std::vector<std::vector<std::byte>> download_outputs();

 private:
  backend::memory place(std::uint64_t bytes);

  const verified_case& case_;
  backend::queue& queue_;
  std::deque<backend::buffer> buffers_;
  std::vector<registry::memories> sets_;
  backend::memory copy_target_;
};

}  // namespace tilewise::lab
