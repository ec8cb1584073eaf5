// SPDX-License-Identifier: Apache-2.0
// How the arrays of a caller make a problem. The tool's command of an algorithm is made from it.
#pragma once

#include "registry/problem.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tilewise::registry {

/// An array that a caller gives or gets.
struct parameter {
  std::string_view name;  // "a"
  /// A letter of signature::sizes for each: "mk". Arrays of any shape, taken flat: "*". Of a result also empty, see
  /// signature::shape_of_result.
  std::string_view dimensions;
  std::string_view says;  // "a matrix"
  bool is_image = false;  // a third dimension, if it is short and last, is its channels
};

/// What a caller may choose: a setting, or a number with its type.
struct option {
  std::string_view name;   // as the descriptor has it
  std::string_view value;  // "valid|zero", or "P" for a number
  std::string_view says;   // "valid: no output at the edges; zero: 0 around the image"
  std::optional<dtype> type = {};
};

struct signature {
  std::string_view says;              // "the product of two matrices"
  std::string_view sizes;             // a letter for each size of the problem: "mnk"
  std::span<const parameter> inputs;  // all have the problem's type
  parameter result;
  std::span<const option> options = {};
  std::string_view notes;     // of the command's help, in lines of at most 80 columns
  std::string_view examples;  // the same, a command in each line
  /// The shape of a result whose dimensions are not among the sizes.
  std::vector<std::uint64_t> (*shape_of_result)(const problem&) = nullptr;
};

}  // namespace tilewise::registry
