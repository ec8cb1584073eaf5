// The last steps of a public function, the same for every algorithm: after its own checks it describes its operands
// here.
#pragma once

#include "registry/execute.hpp"

#include <tilewise/array.hpp>

#include <initializer_list>
#include <optional>

namespace tilewise::registry {

/// Runs on host data, on the CPU if the caller names no device.
void call_on_host(const problem& p, const std::optional<device>& on, const wishes& wanted,
                  std::initializer_list<const void*> inputs, std::initializer_list<void*> outputs);

/// An array of any type.
struct array_operand {
  std::string_view name;
  const tilewise::device& on;
  backend::memory where;

  template <scalar T>
  array_operand(std::string_view name_, const array<T>& a) : name(name_), on(a.device()), where(a.storage()) {}
};

/// Runs where the arrays are. Throws `invalid_argument` if that is not one device.
void call_on_arrays(const problem& p, const wishes& wanted, std::initializer_list<array_operand> inputs,
                    std::initializer_list<array_operand> outputs);

/// Throws `invalid_argument`, naming both, if an output shares memory with an input. With `in_place`, an output may be
/// exactly the input at its position.
struct host_operand {
  std::string_view name;
  const void* data;
  std::uint64_t bytes;

  template <class T>
  host_operand(std::string_view name_, std::span<T> s) : name(name_), data(s.data()), bytes(s.size_bytes()) {}
};
enum class aliasing : std::uint8_t { forbidden, in_place };
void refuse_overlap(aliasing allowed, std::initializer_list<host_operand> inputs,
                    std::initializer_list<host_operand> outputs);
void refuse_overlap(aliasing allowed, std::initializer_list<array_operand> inputs,
                    std::initializer_list<array_operand> outputs);

/// Throws `invalid_argument` unless an operand has room for what its shape says.
void require_elements(std::string_view name, const std::string& shape, std::uint64_t needed, std::uint64_t given);

}  // namespace tilewise::registry
