// SPDX-License-Identifier: Apache-2.0
// The descriptor of an algorithm: all that tests, lab, tool and report need to know of it, stated once.
#pragma once

#include "backend/backend.hpp"
#include "registry/problem.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::registry {

/// A choice that is part of the problem, such as op = sum | product | min | max.
struct setting {
  std::string_view name;
  std::span<const std::string_view> values;
  bool plain_first = false;  // names of problems leave its first word out, as they did before there was a second
};

/// One array that a problem reads or writes.
struct operand {
  std::string_view name;
  dtype type;
  std::uint64_t count;
  bool has_gaps = false;  // an output with elements between its rows that keep what they hold
  std::uint64_t row = 1;  // elements that lie on one rank of a group
  std::uint64_t bytes() const { return count * size_of(type); }
};

double total_bytes(std::span<const operand> operands);
double bytes_of_operands(const problem& p);  // of all inputs and outputs

/// Where a problem's operands lie: memory of the device whose queue runs the variant, in the order of the descriptor's
/// inputs and outputs.
struct bindings {
  std::array<backend::memory, 4> in{};
  std::array<backend::memory, 4> out{};
};

/// The unit of an algorithm's speed, and with it what bounds that speed: for bytes and elements the device's own copy,
/// for operations its multiply-adds.
enum class speed_unit : std::uint8_t { bytes, elements, operations };

/// What must be shown of a result before a caller may see it, such as that no integer has overflowed. The operands on
/// the device are asked, after the variant has run, wherever the call came from.
struct proof {
  /// Whether the inputs leave it in doubt. Waits for the device.
  bool (*is_needed)(const problem&, const bindings& operands, backend::queue&);
  /// Throws, naming what is wrong, unless the outputs are the problem's answer. Waits for the device.
  void (*require)(const problem&, const bindings& operands, backend::queue&);
};

struct choice;
struct host_pointers;

/// How a problem on host memory is computed piece by piece (pieces.hpp).
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
  std::span<const extents> edge_shapes;       // where bits are checked
  std::span<const extents> quick_shapes;      // where `bench` measures; normal contains quick
  std::span<const extents> normal_shapes;

  std::vector<operand> (*inputs)(const problem&);
  std::vector<operand> (*outputs)(const problem&);
  /// Each input read once, each output written once; by default all that the operands hold.
  double (*compulsory_bytes)(const problem&) = bytes_of_operands;
  double (*operations)(const problem&);  // arithmetic operations of the definition
  /// Why the problem has no answer, as a sentence that says what to do; empty if it has one.
  std::string (*invalid)(const problem&);
  /// Why a call refuses to compute it all the same, unless the caller insists: say, steps so long that they diverge.
  std::string (*inadvisable)(const problem&) = [](const problem&) { return std::string(); };
  const proof* proves = nullptr;  // null: what the variants compute is the answer
  /// Turn generated numbers and inputs into ones that the problem admits.
  void (*fit_numbers)(problem&) = [](problem&) {};
  void (*fit_inputs)(const problem&, std::span<std::vector<std::byte>>) = [](const problem&,
                                                                             std::span<std::vector<std::byte>>) {};
  const division* divides = nullptr;  // null: a problem is computed as a whole
  speed_unit speed_in = speed_unit::bytes;
  bool in_place = false;  // whether each output may be the memory of the input at its position
  bool fuses = false;     // the order rounds a multiply-add once; else each product and each sum
  /// Whether methods with the same bits need fewer operations than the definition, which is what is counted.
  bool has_shorter_methods = false;
  /// Whether the work of what is chosen is not in proportion to `operations`, so that there is no weak scaling.
  bool grows_unevenly = false;
};

}  // namespace tilewise::registry
