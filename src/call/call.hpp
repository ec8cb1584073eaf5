// SPDX-License-Identifier: Apache-2.0
// The one way into every algorithm: what is behind detail::call().
#pragma once

#include "call/execute.hpp"
#include "registry/matrix_shape.hpp"

#include <tilewise/call.hpp>
#include <tilewise/float_mode.hpp>

#include <functional>

namespace tilewise::call {

using detail::argument, detail::request;
using registry::algorithm, registry::extents;
using arguments = std::span<const argument>;

/// An argument's memory: that of its device, or host memory as that of a CPU.
inline backend::memory memory_of(const argument& a) {
  const std::uint64_t bytes = (a.of.stride == 0 ? a.size : registry::elements_of(a.of)) * size_of(a.type);
  if (a.on == nullptr) return {a.host, 0, bytes};
  return a.there->at(a.first * size_of(a.type), bytes);
}
/// Its elements [first, first + count).
argument part_of(const argument& a, std::uint64_t first, std::uint64_t count);
template <scalar T>
std::span<const T> elements_of(const argument& a) {
  return {static_cast<const T*>(a.host), a.size};
}

inline preferences preferences_of(const request& r) { return {r.variant, r.tuning, r.fast, r.allow_unstable}; }
inline bool names_a_place(const request& r) { return r.device != nullptr || !r.variant.empty() || !r.tuning.empty(); }

/// The number with this name; none if it is not given.
number number_of(const request& r, std::string_view name);
/// Throws `invalid_argument` if the type cannot hold the number.
base::scalar_value converted(const number& given, dtype to, std::string_view name);

/// The problem of this shape, with the settings of the request and its number `init`; an algorithm with other numbers
/// sets those. Throws as admit() does. Only the shapes of admitted problems may be computed with, for example for the
/// size of a result: others may overflow.
problem described(const algorithm& what, const request& r, const extents& shape);
/// The same for one matrix in and one matrix of results, of the same rows and columns; both may have gaps. An output
/// without a layout has none.
problem described_lines(const algorithm& what, const request& r);

/// Throws `invalid_argument` if the options name a device and the array is on another one: arrays are not moved.
void require_place(const device* named, const argument& of);
/// Throws `invalid_argument` for null pointers and for operands that share memory in ways that the algorithm forbids.
/// Also for arrays on different devices, or on another device than the options name, and for a matrix that exceeds its
/// memory.
void require_operands(const algorithm& what, const device* named, arguments in, arguments out);

/// Checks the operands, chooses a variant and runs it; the problem must be admitted. Arrays are computed on their own
/// device; host memory on `on`, or on the CPU if that is null. A refused call writes nothing.
void run_call(const problem& p, const device* on, const preferences& wanted, arguments in, arguments out);

/// Whether input and output, which have the same size, overlap without being the same memory.
template <class T>
bool overlap_in_part(const T* in, const T* out, std::uint64_t count) {
  const std::less<const T*> before;
  return in != out && before(in, out + count) && before(out, in + count);
}

}  // namespace tilewise::call
