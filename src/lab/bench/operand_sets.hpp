// SPDX-License-Identifier: Apache-2.0
// The memory that a group's rows share on their device, and whether there is so much.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measuring.hpp"
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

/// Twice the last-level cache; if the device does not report it, twice 64 MiB, which exceeds most.
std::uint64_t flush_bytes(const device_info& info);

/// A copy larger than the caches evicts what they held.
class cache_flusher {
 public:
  explicit cache_flusher(backend::queue& queue);
  void flush();

 private:
  backend::queue& queue_;
  std::uint64_t bytes_;
  backend::buffer from_, to_;
};

/// Before anything is allocated: why the group does not fit in the memory of its host or device with a tenth left free;
/// empty if it does.
std::string memory_shortage(const group& what, const measuring& how);

}  // namespace tilewise::lab
