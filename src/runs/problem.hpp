// SPDX-License-Identifier: Apache-2.0
// How a search for runs of equal keys is written as a registry::problem: shape {keys, room}, no settings. There is room
// for the keys and begins of the first runs, and for the begin of the run behind them. The count says how many there
// are in all. Places beyond the last run have the key 0, and the number of keys for a begin. What variants share:
// found.cpp.
#pragma once

#include "registry/algorithm.hpp"

#include <type_traits>

namespace tilewise::impl::runs {

const registry::algorithm& runs_algorithm();

inline std::uint64_t room_of(const registry::problem& p) { return p.shape[1]; }

/// A key's bits. Keys are equal if their bits are, as in the order of sort().
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Calls f with 0 of the type of a key's bits.
template <class F>
void with_bits(dtype type, F&& f) {
  size_of(type) == 4 ? f(std::uint32_t{0}) : f(std::uint64_t{0});
}

/// Whether a run begins with key i.
template <class K>
constexpr bool begins_at(const K* keys, std::uint64_t i) {
  return i == 0 || keys[i] != keys[i - 1];
}

/// Makes a running sum of how many runs begin in each tile, i64; the last is the count of all.
void add_up(const backend::memory& counts, const backend::memory& all, backend::queue& queue);

/// The results for no keys.
void write_none(const registry::bindings& where, backend::queue& queue);

}  // namespace tilewise::impl::runs
