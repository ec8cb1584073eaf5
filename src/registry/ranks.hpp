// SPDX-License-Identifier: Apache-2.0
// Problems that a group computes: what its variants have in common.
#pragma once

#include "backend/group/device.hpp"
#include "registry/choose.hpp"

#include <functional>

namespace tilewise::registry {

using backend::group::rank;

/// Runs a problem on one rank's device, by the variant that is chosen there.
void run_on_rank(const rank& r, const problem& p, const bindings& where, const preferences& wanted = {});

/// Why some member of a group has no variant for a problem that a rank would be given; empty if all have.
std::string unsupported_by_members(const problem& p, const backend::device& group, const preferences& wanted = {});

/// The same of the problem itself, as variant::unsupported: for variants whose ranks are given problems like it.
std::string unsupported_by_members(const problem& p, const backend::device& group, const tuning& t);

/// Does `work` on each rank of the group. A rank that is the only one has nobody to share with: it runs all of the
/// problem where it lies, by its device's own variant.
void run_on_ranks(backend::queue& group, const problem& p, const bindings& where,
                  const std::function<void(const rank&)>& work, const preferences& wanted = {});

/// Rows [begin, end).
struct row_range {
  std::uint64_t begin, end;

  std::uint64_t size() const { return end - begin; }
  bool operator==(const row_range&) const = default;
};
/// The rows, of `count`, that begin in `part`.
row_range rows_in(backend::group::byte_range part, std::uint64_t row_bytes, std::uint64_t count);

}  // namespace tilewise::registry
