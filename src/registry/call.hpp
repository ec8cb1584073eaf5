// SPDX-License-Identifier: Apache-2.0
// The public call, the same for every algorithm: a function of the library checks what only its own arguments can show,
// describes the problem and its operands, and ends here.
#pragma once

#include "base/float_mode.hpp"
#include "registry/execute.hpp"
#include "registry/matrix_shape.hpp"

#include <tilewise/array.hpp>
#include <tilewise/matrix.hpp>

#include <functional>
#include <initializer_list>
#include <optional>

namespace tilewise::registry {

/// Host memory, or an array on a device, of any type.
struct call_operand {
  std::string_view name;  // as messages call it
  const void* host = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t row_bytes = 0, pitch = 0;  // of a matrix with gaps: its rows, and from row to row; else 0
  const tilewise::device* on = nullptr;    // of an array
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

/// Throws `invalid_argument` for an array that is not on the device that the options name: it is worked on where it is.
void require_place(const std::optional<device>& named, const call_operand& of);

/// Throws `invalid_argument` for memory that is not there, operands that share memory in ways that the algorithm
/// forbids, and arrays of different devices, or of another than the options name.
void require_operands(const algorithm& what, const std::optional<device>& named, call_operands inputs,
                      call_operands outputs);

/// Admits the problem, checks its operands, chooses and runs. Arrays are worked on where they are; host memory on `on`,
/// or else on the CPU. Whatever is refused, nothing is touched.
void run_call(const problem& p, const std::optional<device>& on, const preferences& wanted, call_operands inputs,
              call_operands outputs);

/// The same of a problem that the public function has admitted before: it must, if it computes with the shape, say for
/// the size of a result, since only then does arithmetic on its sizes not overflow.
void run_admitted(const problem& p, const std::optional<device>& on, const preferences& wanted, call_operands inputs,
                  call_operands outputs);

template <class Options>
preferences preferences_of(const Options& options) {
  preferences wanted{options.variant, options.tuning};
  if constexpr (requires { options.fast; }) wanted.fast = options.fast;
  if constexpr (requires { options.allow_unstable; }) wanted.allow_unstable = options.allow_unstable;
  return wanted;
}

/// The same with the options of a public function.
template <class Options>
void run_call(const problem& p, const Options& options, call_operands inputs, call_operands outputs) {
  run_call(p, options.device, preferences_of(options), inputs, outputs);
}
template <class Options>
void run_admitted(const problem& p, const Options& options, call_operands inputs, call_operands outputs) {
  run_admitted(p, options.device, preferences_of(options), inputs, outputs);
}

/// The one value of a problem whose inputs are on a device.
template <scalar T, class Options>
T value_of_call(const problem& p, const Options& options, const device& on, call_operands inputs) {
  const array<T> result = on.template allocate<T>(1);
  run_call(p, options, inputs, {{"the result", result}});
  T value;
  result.download(std::span<T>(&value, 1));
  return value;
}

/// Few elements, nothing said of where and how, and arithmetic as it must be: the way to a device would take longer
/// than the work.
template <class T, class Options>
bool takes_shortcut(std::span<const T> in, std::uint64_t limit, const Options& options) {
  return in.data() != nullptr && in.size() != 0 && in.size() <= limit && !options.device && options.variant.empty() &&
         options.tuning.empty() && base::has_default_rounding();
}

/// Whether input and output, of the same size, overlap without being the same.
template <class T>
bool overlap_in_part(std::span<const T> in, std::span<const T> out) {
  const std::less<const T*> before;
  return in.data() != out.data() && before(in.data(), out.data() + out.size()) &&
         before(out.data(), in.data() + in.size());
}

/// Throws `invalid_argument` unless a matrix has the elements that its shape needs.
void require_elements(std::string_view name, const matrix_layout& of, std::uint64_t given);

/// The memory from the matrix's first element to its last: what lies around it, and between its rows, may be another
/// operand's.
template <class T, class Memory>
call_operand matrix_operand(std::string_view name, const Memory& memory, const matrix_layout& of) {
  require_elements(name, of, memory.size());
  call_operand matrix = call_operand(name, memory).template part<T>(0, elements_of(of));
  if (of.rows > 1 && !is_packed(of)) matrix.row_bytes = of.columns * sizeof(T), matrix.pitch = of.stride * sizeof(T);
  return matrix;
}

}  // namespace tilewise::registry
