// SPDX-License-Identifier: Apache-2.0
// The arrays of one command: from files or standard input, to files or standard output, with what messages about them
// need.
#pragma once

#include "io/array_input.hpp"
#include "tool/commands.hpp"

#include <memory>
#include <span>

namespace tilewise::cli {

/// "a.npy is 3x4"; with one dimension "x.npy is an array of 5".
std::string sentence(const std::string& path, std::span<const std::uint64_t> shape);

/// An array whose header has been read.
struct array_file {
  std::string path;
  std::unique_ptr<io::array_input> input;

  dtype type() const { return input->type(); }
  const std::vector<std::uint64_t>& shape() const { return input->shape(); }
  std::string sentence() const { return cli::sentence(path, shape()); }
};
array_file open_array(const std::string& path);
/// Two of them. Throws `invalid_argument` if both are standard input.
std::pair<array_file, array_file> open_arrays(const std::string& first, const std::string& second);

/// --dtype and --shape: the input has no header.
struct raw_options {
  std::string type, shape;
};
void add_raw_options(CLI::App& command, raw_options& to);
/// What they say; none without --dtype. Throws `invalid_argument` with what is understood.
std::optional<io::raw_elements> raw_elements_of(const raw_options& options);

/// How NumPy and a command compute the slices of three dimensions one by one and put the results together: those along
/// the first axis, or along the last. `command` has x0.npy and y0.npy for the first of them.
enum class slice_axis : bool { first, last };
std::string slice_by_slice(std::span<const std::uint64_t> shape, slice_axis along, const std::string& command);
/// Whether all of its elements lie along one dimension, so that flattening it changes nothing.
bool is_flat(std::span<const std::uint64_t> shape);
/// Throws `invalid_argument`, with the shape and this advice, unless the array has this many dimensions.
void require_dimensions(const std::string& path, std::span<const std::uint64_t> shape, std::size_t dimensions,
                        const std::string& advice);
void require_dimensions(const array_file& file, std::size_t dimensions, const std::string& advice);
/// Throws `invalid_argument`, naming both types, unless the two types are equal.
void require_one_type(const array_file& a, const array_file& b);

// None of a command's files may be written over another. Standard input and output are files too where they are regular
// ones; as an array their name is "-".

/// Throws `invalid_argument` if two of the outputs would be one file; an empty name is no output.
void require_distinct_outputs(std::span<const std::string> outputs);
/// Throws `invalid_argument` if the output would be written over this input; an empty name is no file.
void refuse_overwriting(const std::string& input, const std::string& output);
/// Throws `invalid_argument` if both inputs are standard input.
void require_distinct_streams(const std::string& first, const std::string& second);
/// Throws `invalid_argument` if the array would be mixed with the fields that --json prints.
void require_free_output(const std::string& output, bool json);

}  // namespace tilewise::cli
