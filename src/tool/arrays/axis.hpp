// SPDX-License-Identifier: Apache-2.0
// Parts of an array file. --axis: each row or each column of a matrix. --segments: pieces between offsets.
#pragma once

#include "registry/problem.hpp"
#include "tool/arrays/file.hpp"
#include "tool/commands.hpp"

#include <span>

namespace tilewise::cli {

/// Adds --axis.
void add_axis_option(CLI::App& command, std::optional<int>& to, const std::string& says);

/// The problem of `algorithm`, such as "scan_axis", for the lines of an array file along an axis; -1 is the last.
/// Throws `invalid_argument` if there is no such axis, or if it lies between others.
registry::problem problem_along(int axis, std::string_view algorithm, const std::string& path, dtype type,
                                std::span<const std::uint64_t> shape);

/// The shape of an array of one value for each line.
std::vector<std::uint64_t> without_axis(int axis, std::span<const std::uint64_t> shape);

/// Adds --segments, after --axis, which it excludes.
CLI::Option* add_segments_option(CLI::App& command, std::string& to, const std::string& says);

/// The offsets that --segments names, beside the files or streams `input` and `output`. Throws `invalid_argument`
/// unless it is one dimension of i64 with one element or more, and if the output would replace it.
array_file open_offsets(const std::string& segments, const std::string& input, const std::string& output);

}  // namespace tilewise::cli
