// SPDX-License-Identifier: Apache-2.0
// Scans of the elements of a rank in parts, each with its carry.
#pragma once

#include "divide/ranks.hpp"
#include "scan/carry_chain.hpp"

namespace tilewise::impl::scan {

/// Why some member of the group cannot run parts of the scan `p`; empty if all can.
inline std::string parts_unsupported_by_members(const registry::problem& p, const backend::device& group) {
  return divide::unsupported_by_members(part_of(p, p.n()), group);
}

/// Runs the scan `p` of elements that follow one another, one part after another, on this rank. `in` is the memory of
/// all their elements, and `out` that of their results.
template <class T>
void scan_parts(const registry::problem& p, const std::vector<part<T>>& parts, const backend::memory& in,
                const backend::memory& out, const divide::rank& r) {
  std::vector<T> carries;
  for (const part<T>& one : parts) carries.insert(carries.end(), one.carry.begin(), one.carry.end());
  const backend::buffer carry(r.queue(), carries.size() * sizeof(T));
  r.queue().upload(carry, carries.data(), carries.size() * sizeof(T));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint64_t at = (parts[i].first - parts[0].first) * sizeof(T), bytes = parts[i].count * sizeof(T);
    registry::bindings there;
    there.in = {in.at(at, bytes), backend::memory(carry).at(2 * i * sizeof(T), 2 * sizeof(T))};
    there.out[0] = out.at(at, bytes);
    divide::run_on_rank(r, part_of(p, parts[i].count), there);
  }
}

}  // namespace tilewise::impl::scan
