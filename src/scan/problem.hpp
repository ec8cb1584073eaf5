// SPDX-License-Identifier: Apache-2.0
// How a scan is written as a registry::problem: settings op, kind, init and carry, the number init, the operand carry.
//
// With a carry the input is a part of a longer array: elements [a, a + n), where a is a multiple of some 2^s >= n. The
// operand holds P(a) and P(a + n), and P(a + m) for m < n is the fold of the part's own blocks onto P(a), as in
// block_stack::fold_onto. For m = n that fold would miss the blocks that the part completes with what precedes it.
#pragma once

#include "registry/algorithm.hpp"
#include "registry/fold.hpp"
#include "registry/tuning.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::scan {

inline constexpr std::array<std::string_view, 2> kind_words{"inclusive", "exclusive"};
inline constexpr std::array<std::string_view, 2> carry_words{"none", "given"};
const registry::algorithm& scan_algorithm();
registry::problem describe(const detail::request& r);  // scan.cpp
bool few(const detail::request& r);
void continues(const registry::problem& p, const detail::request& r);  // continued.cpp
extern const registry::division division;                              // pieces.cpp

using registry::fold::operation_of;
inline bool is_exclusive(const registry::problem& p) { return p.setting[1] == 1; }
inline bool has_init(const registry::problem& p) { return p.setting[2] == 1; }
inline constexpr std::size_t carry_setting = 3;
inline bool has_carry(const registry::problem& p) { return p.setting[carry_setting] == 1; }
/// Whether the last output is computed from the prefix after the whole part, which is taken from the carry.
inline bool ends_with_carry(const registry::problem& p) { return has_carry(p) && !is_exclusive(p); }

/// The prefixes before and after the part; null if the input is a whole array. Only for memory that has addresses.
template <class T>
const T* carry_of(const registry::problem& p, const registry::bindings& where) {
  return has_carry(p) ? where.in[1].as<const T>() : nullptr;
}

/// An exclusive sum without an initial value starts from 0, an exclusive product from 1.
template <class T>
T init_of(const registry::problem& p) {
  return has_init(p) ? p.number[0].as<T>() : T(operation_of(p) == op::product ? 1 : 0);
}
/// Whether every output is init + prefix. This holds for all scans but the inclusive one without an initial value.
inline bool starts_from_init(const registry::problem& p) { return is_exclusive(p) || has_init(p); }

/// The error message if the first output is undefined, since an initial value is missing; otherwise empty.
inline std::string lacks_init(const registry::problem& p) {
  if (is_exclusive(p) && registry::fold::needs_init(p) && !has_init(p))
    return "an exclusive " + std::string(name_of(operation_of(p))) +
           " scan has no value to start from; give an initial value";
  return "";
}

/// A scan of n elements. `init` points to the initial value; null means none. `carry` says whether there is a carry.
template <class T>
registry::problem problem_of(std::uint64_t n, op operation, bool exclusive, const T* init, bool carry) {
  registry::problem p{.what = &scan_algorithm(), .type = dtype_of<T>, .shape = {n}};
  p.setting = {static_cast<std::uint8_t>(operation), static_cast<std::uint8_t>(exclusive),
               static_cast<std::uint8_t>(init != nullptr), static_cast<std::uint8_t>(carry)};
  if (init != nullptr) p.number[0] = base::scalar_value::of(*init);
  return p;
}

/// The variant of CPUs.
inline constexpr std::array<unsigned, 4> cpu_tile_lengths{1024, 8192, 32768, 131072};
inline constexpr std::array<registry::tuning_axis, 1> cpu_axes{{{"tile", cpu_tile_lengths, 32768}}};
/// Whether a CPU writes that many bytes of results past its caches: if they do not fit there together with as many of
/// the input. A scan in place does not, since the lines of its input are cached already.
bool worth_streaming(const registry::bindings& where, std::uint64_t bytes, const backend::queue& queue);
void run_on_cpu(const registry::problem& p, const registry::bindings& where, std::uint64_t tile, bool stream,
                backend::queue& queue);

/// How many of the `count` elements from position `first` on can be scanned at once with a carry: those in the largest
/// aligned block that begins at `first`.
constexpr std::uint64_t piece_length(std::uint64_t first, std::uint64_t count) {
  return first == 0 ? count : std::min(count, std::uint64_t{1} << std::countr_zero(first));
}

/// The same scan of a part of n elements, with a carry.
inline registry::problem part_of(const registry::problem& p, std::uint64_t n) {
  registry::problem part = p;
  part.shape = {n};
  part.setting[carry_setting] = 1;
  return part;
}

}  // namespace tilewise::impl::scan
