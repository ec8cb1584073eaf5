// SPDX-License-Identifier: Apache-2.0
// What all variants for groups share.
#pragma once

#include "backend/group/device.hpp"
#include "registry/choose.hpp"

#include <functional>

namespace tilewise::divide {

using backend::group::rank;
using registry::bindings, registry::preferences, registry::problem;

/// Runs a problem on one rank's device, with the variant that choose() finds there.
void run_on_rank(const rank& r, const problem& p, const bindings& where, const preferences& wanted = {});

/// Why some device of the group has no variant for `p`, a problem for one rank; empty if all have one.
std::string unsupported_by_members(const problem& p, const backend::device& group, const preferences& wanted = {});

/// The same with the signature of variant::unsupported, for variants whose ranks get problems like `p` itself.
std::string unsupported_by_members(const problem& p, const backend::device& group, const registry::tuning& t);

/// Calls `work` on each rank of the group. In a group of one rank, that rank's device runs the whole problem directly
/// instead.
void run_on_ranks(backend::queue& group, const problem& p, const bindings& where,
                  const std::function<void(const rank&)>& work, const preferences& wanted = {});

/// Rows [begin, end).
struct row_range {
  std::uint64_t begin, end;

  std::uint64_t size() const { return end - begin; }
  bool operator==(const row_range&) const = default;
};
/// Those of `count` rows that begin within the bytes `part`.
row_range rows_in(backend::group::byte_range part, std::uint64_t row_bytes, std::uint64_t count);

}  // namespace tilewise::divide
