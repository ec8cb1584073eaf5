// SPDX-License-Identifier: Apache-2.0
// The part of a public call that all algorithms share. A public function checks what is special about its own
// arguments, describes the problem and its operands, and then calls run_call().
#pragma once

#include "registry/execute.hpp"
#include "registry/matrix_shape.hpp"

#include <tilewise/array.hpp>
#include <tilewise/float_mode.hpp>
#include <tilewise/matrix.hpp>

#include <functional>
#include <initializer_list>
#include <optional>

namespace tilewise::registry {

/// An argument of a call: host memory or an array on a device, of any element type.
struct call_operand {
  std::string_view name;  // its name in messages
  const void* host = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t row_bytes = 0, pitch = 0;  // for a matrix with gaps: bytes of a row, and from row to row; else 0
  const tilewise::device* on = nullptr;    // the array's device; null for host memory
  backend::memory where = {};

  template <class T>
  call_operand(std::string_view name_, std::span<T> s) : name(name_), host(s.data()), bytes(s.size_bytes()) {}
  template <scalar T>
  call_operand(std::string_view name_, const array<T>& a)
      : name(name_), bytes(a.storage().bytes), on(&a.device()), where(a.storage()) {}

  /// Its elements [first, first + count).
  template <scalar T>
  call_operand part(std::uint64_t first, std::uint64_t count) const {
    call_operand some = *this;
    some.bytes = count * sizeof(T);
    some.host = on == nullptr ? static_cast<const T*>(host) + first : nullptr;
    some.where = where.at(first * sizeof(T), some.bytes);
    return some;
  }
};
using call_operands = std::initializer_list<call_operand>;

/// Throws `invalid_argument` if the options name a device and the array is on another one: arrays are not moved.
void require_place(const std::optional<device>& named, const call_operand& of);

/// Throws `invalid_argument` for null pointers and for operands that share memory in ways that the algorithm forbids.
/// Also for arrays on different devices, or on another device than the options name.
void require_operands(const algorithm& what, const std::optional<device>& named, call_operands inputs,
                      call_operands outputs);

/// Calls admit(), checks the operands, chooses a variant and runs it. Arrays are computed on their own device; host
/// memory on `on`, or on the CPU if that is empty. A refused call writes nothing.
void run_call(const problem& p, const std::optional<device>& on, const preferences& wanted, call_operands inputs,
              call_operands outputs);

/// The same for callers that already ran admit(). They must do so before they compute with the shape, for example the
/// size of a result: only admitted sizes cannot overflow.
void run_admitted(const problem& p, const std::optional<device>& on, const preferences& wanted, call_operands inputs,
                  call_operands outputs);

template <class Options>
preferences preferences_of(const Options& options) {
  preferences wanted{options.variant, options.tuning};
  if constexpr (requires { options.fast; }) wanted.fast = options.fast;
  if constexpr (requires { options.allow_unstable; }) wanted.allow_unstable = options.allow_unstable;
  return wanted;
}

/// The same with the options struct of a public function.
template <class Options>
void run_call(const problem& p, const Options& options, call_operands inputs, call_operands outputs) {
  run_call(p, options.device, preferences_of(options), inputs, outputs);
}
template <class Options>
void run_admitted(const problem& p, const Options& options, call_operands inputs, call_operands outputs) {
  run_admitted(p, options.device, preferences_of(options), inputs, outputs);
}

/// Runs a problem whose result is one value and whose inputs are on a device; waits and returns the value.
template <scalar T, class Options>
T value_of_call(const problem& p, const Options& options, const device& on, call_operands inputs) {
  const array<T> result = on.template allocate<T>(1);
  run_call(p, options, inputs, {{"the result", result}});
  T value;
  result.download(std::span<T>(&value, 1));
  return value;
}

/// Whether a public function may compute the result itself, since a call through a device would take longer than the
/// work. This needs few elements, no device, variant or tuning in the options, and the default floating-point mode.
template <class T, class Options>
bool takes_shortcut(std::span<const T> in, std::uint64_t limit, const Options& options) {
  return in.data() != nullptr && in.size() != 0 && in.size() <= limit && !options.device && options.variant.empty() &&
         options.tuning.empty() && default_float_mode::is_on();
}

/// Whether input and output, which have the same size, overlap without being the same memory.
template <class T>
bool overlap_in_part(std::span<const T> in, std::span<const T> out) {
  const std::less<const T*> before;
  return in.data() != out.data() && before(in.data(), out.data() + out.size()) &&
         before(out.data(), in.data() + in.size());
}

/// Throws `invalid_argument` unless `given` elements suffice for the matrix.
void require_elements(std::string_view name, const matrix_layout& of, std::uint64_t given);

/// The matrix as an operand, from its first element to its last. Memory around it and between its rows may belong to
/// another operand.
template <class T, class Memory>
call_operand matrix_operand(std::string_view name, const Memory& memory, const matrix_layout& of) {
  require_elements(name, of, memory.size());
  call_operand matrix = call_operand(name, memory).template part<T>(0, elements_of(of));
  if (of.rows > 1 && !is_packed(of)) matrix.row_bytes = of.columns * sizeof(T), matrix.pitch = of.stride * sizeof(T);
  return matrix;
}

}  // namespace tilewise::registry
