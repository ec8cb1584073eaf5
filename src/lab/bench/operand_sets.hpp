// SPDX-License-Identifier: Apache-2.0
// The device memory that a group's rows share, and a check that there is enough of it.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/verify/verify.hpp"

#include <optional>

namespace tilewise::lab {

/// Cold samples cycle through this many sets of operands, so that none finds its data still in a cache.
inline constexpr unsigned cold_sets = 3;

/// Bytes on the device for one set of operands and the target of the copy limit.
std::uint64_t operand_bytes(const registry::problem& p);

class operand_sets {
 public:
  operand_sets(const verified_case& inputs, backend::queue& queue, unsigned count);

  std::size_t count() const { return sets_.size(); }
  const call::operands& operands(std::size_t set) const { return sets_[set]; }
  const registry::bindings& set(std::size_t i) const { return sets_[i].where(); }
  /// Bindings for a copy of the set's first input. It goes to the first output if that is large enough.
  const registry::bindings& copied(std::size_t set) const { return copied_[set]; }

  /// Poisons the outputs of set 0, the set that is checked.
  void poison_outputs() { sets_.front().poison_outputs(); }
  call::host_operands download_outputs() const;

 private:
  const verified_case& case_;
  std::vector<call::operands> sets_;
  std::vector<registry::bindings> copied_;
  std::optional<backend::buffer> own_target_;
};

/// How much to copy to flush the caches: twice the last-level cache, or 128 MiB if the device does not report its size.
std::uint64_t flush_bytes(const device_info& info);

/// Evicts what the caches hold by a copy larger than they are.
class cache_flusher {
 public:
  explicit cache_flusher(backend::queue& queue);
  void flush();

 private:
  backend::queue& queue_;
  std::uint64_t bytes_;
  backend::buffer from_, to_;
};

/// Call it before anything is allocated. Says why the group does not fit in the memory of its host or device with a
/// tenth left free; empty if it fits.
std::string memory_shortage(const group& what, const measuring& how);

}  // namespace tilewise::lab
