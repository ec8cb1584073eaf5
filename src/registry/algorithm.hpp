// SPDX-License-Identifier: Apache-2.0
// The descriptor of an algorithm: everything that tests, lab, tool and report need to know about it, in one place.
#pragma once

#include "backend/backend.hpp"
#include "registry/problem.hpp"
#include "registry/signature.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::detail {
struct request;
}

namespace tilewise::registry {

/// A choice that is part of the problem, such as op = sum | product | min | max.
struct setting {
  std::string_view name;
  std::span<const std::string_view> values;
  bool plain_first = false;  // names of problems omit its first value, so that older names stay valid
};

/// One array that a problem reads or writes.
struct operand {
  std::string_view name;
  dtype type;
  std::uint64_t count;
  bool has_gaps = false;  // an output with elements between its rows, which must not change
  std::uint64_t row = 1;  // this many consecutive elements stay on one rank of a group
  std::uint64_t bytes() const { return count * size_of(type); }
};

double total_bytes(std::span<const operand> operands);
double bytes_of_operands(const problem& p);  // the sum over all inputs and outputs

/// The memory of a problem's operands, in the order of the descriptor's inputs and outputs. It belongs to the device
/// whose queue runs the variant.
struct bindings {
  std::array<backend::memory, 4> in{};
  std::array<backend::memory, 4> out{};
};

/// The unit of an algorithm's speed. It also says which peak limits that speed: the device's copy bandwidth for bytes
/// and elements, its multiply-adds for operations.
enum class speed_unit : std::uint8_t { bytes, elements, operations };

/// A check of a result before the caller sees it, such as that no integer has overflowed. It runs after the variant, on
/// the operands on the device, for every kind of call.
struct proof {
  /// Whether the result must be checked for these inputs. Waits for the device.
  bool (*is_needed)(const problem&, const bindings& operands, backend::queue&);
  /// Throws, and says what is wrong, unless the outputs are the problem's answer. Waits for the device.
  void (*require)(const problem&, const bindings& operands, backend::queue&);
};

struct choice;

/// The problem's operands in host memory, in the order of the descriptor's inputs and outputs.
struct host_pointers {
  std::span<const void* const> in;
  std::span<void* const> out;
  double* computing_ns = nullptr;  // unless null, the time that the device computes is added to it
};

/// How a problem on host memory is computed chunk by chunk (divide/pieces.hpp).
struct division {
  bool (*is_possible)(const problem&, const choice&, const backend::device&);
  void (*run)(const problem&, const choice&, backend::queue&, const host_pointers&);
};

struct algorithm {
  std::string_view name;     // "scan"
  std::string_view summary;  // one line for `tilewise list`
  std::span<const dtype> types;
  std::span<const setting> settings;
  std::span<const std::string_view> numbers;  // names of problem.number, in order
  std::span<const extents> edge_shapes;       // tests compare bits at these shapes
  std::span<const extents> quick_shapes;      // what `bench --preset quick` measures; included in normal_shapes
  std::span<const extents> normal_shapes;

  std::vector<operand> (*inputs)(const problem&);
  std::vector<operand> (*outputs)(const problem&);
  /// Bytes moved if each input is read once and each output written once; by default all bytes of the operands.
  double (*compulsory_bytes)(const problem&) = bytes_of_operands;
  double (*operations)(const problem&);  // number of arithmetic operations in the definition
  const signature* called = nullptr;     // null: the command is written by hand
  /// A sentence that says why the problem has no answer and what to do; empty if it has one.
  std::string (*invalid)(const problem&);
  /// The problem that a public call describes, admitted (call.hpp). Throws `invalid_argument` if its operands do not
  /// fit together.
  problem (*describe)(const detail::request&);
  /// Computes few elements at once and returns true, if the call leaves the place and the method to the library.
  bool (*few)(const detail::request&) = nullptr;
  /// Computes a problem that continues from the request's carry.
  void (*continues)(const problem&, const detail::request&) = nullptr;
  /// Why a call refuses a problem that has an answer, unless the caller insists: for example, time steps so long that
  /// the result diverges. Empty if nothing is wrong.
  std::string (*inadvisable)(const problem&) = [](const problem&) { return std::string(); };
  const proof* proves = nullptr;  // null: results need no check
  /// Change generated numbers and inputs so that they are valid for the problem.
  void (*fit_numbers)(problem&) = [](problem&) {};
  void (*fit_inputs)(const problem&, std::span<std::vector<std::byte>>) = [](const problem&,
                                                                             std::span<std::vector<std::byte>>) {};
  const division* divides = nullptr;  // null: problems are not divided
  speed_unit speed_in = speed_unit::bytes;
  bool in_place =
      false;           // whether each output may share memory with the input of the same index, if its type is the same
  bool fuses = false;  // whether the order uses fused multiply-adds; otherwise it rounds each product and each sum
  /// Whether some method gives the same bits with fewer operations than the definition. Speed counts the definition's.
  bool has_shorter_methods = false;
  /// Whether the work of the chosen variant is not proportional to `operations`; then weak scaling cannot be measured.
  bool grows_unevenly = false;
};

}  // namespace tilewise::registry
