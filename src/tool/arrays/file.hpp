// SPDX-License-Identifier: Apache-2.0
// The arrays of a command: read from files or standard input, written to files or standard output, with the texts that
// messages about them need.
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

/// --dtype and --shape, for an input without a header.
struct raw_options {
  std::string type, shape;
};
void add_raw_options(CLI::App& command, raw_options& to);
/// The type and shape that the options give; none without --dtype. Throws `invalid_argument`, with the valid values.
std::optional<io::raw_elements> raw_elements_of(const raw_options& options);

/// Advice for an array of three dimensions: how NumPy and `command` compute it slice by slice, along the first axis or
/// the last, and join the results. `command` names the first slices x0.npy and y0.npy.
enum class slice_axis : bool { first, last };
std::string slice_by_slice(std::span<const std::uint64_t> shape, slice_axis along, const std::string& command);
/// Whether all elements lie along one dimension, so that flattening changes nothing.
bool is_flat(std::span<const std::uint64_t> shape);
/// Throws `invalid_argument`, with the array's shape and this advice, unless it has this many dimensions.
void require_dimensions(const std::string& path, std::span<const std::uint64_t> shape, std::size_t dimensions,
                        const std::string& advice);
void require_dimensions(const array_file& file, std::size_t dimensions, const std::string& advice);
/// Throws `invalid_argument`, with both types, unless they are equal.
void require_one_type(const array_file& a, const array_file& b);

// A command must not write one of its files over another. Standard input and output count as files if they are regular
// files; as an array their name is "-".

/// Throws `invalid_argument` if two outputs are the same file. An empty name is no output.
void require_distinct_outputs(std::span<const std::string> outputs);
/// Throws `invalid_argument` if the output is the same file as this input. An empty name is no file.
void refuse_overwriting(const std::string& input, const std::string& output);
/// Throws `invalid_argument` if both inputs are standard input.
void require_distinct_streams(const std::string& first, const std::string& second);
/// Throws `invalid_argument` if the array would be mixed with the fields that --json prints on standard output.
void require_free_output(const std::string& output, bool json);

}  // namespace tilewise::cli
