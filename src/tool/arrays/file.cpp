// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/file.hpp"

#include "backend/group/mpi_world.hpp"
#include "base/printable.hpp"
#include "io/file_identity.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <map>

#include <unistd.h>

namespace tilewise::cli {

std::string sentence(const std::string& path, std::span<const std::uint64_t> shape) {
  std::string text = base::printable(path) + " is ";
  if (shape.empty()) return text + "a single value";
  if (shape.size() == 1) return text + "an array of " + std::to_string(shape[0]);
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d == 0 ? "" : "x") + std::to_string(shape[d]);
  return text;
}

array_file open_array(const std::string& path) { return {path, std::make_unique<io::array_input>(path)}; }

CLI::Validator readable_by_ranks() {
  return CLI::Validator(
      [](const std::string& text) {
        return text == io::standard_stream && backend::group::is_mpi_process() && backend::group::mpi().size() > 1
                   ? "ranks read a file, not standard input; name one that all of them can read"
                   : "";
      },
      "");
}

CLI::Option* add_input_array(CLI::App& command, const std::string& name, std::string& to, const std::string& says) {
  return add_array_option(command, name, to, says, " ")->required()->check(readable_by_ranks());
}

void add_raw_options(CLI::App& command, raw_options& to) {
  CLI::Option* type = command.add_option("--dtype", to.type, "X has no header, only elements: f4 f8 i4 i8 u4 u8");
  type->option_text("TYPE");
  command.add_option("--shape", to.shape, "their shape, such as 3x4; default: all in a row")
      ->option_text("MxN")
      ->needs(type);
}

std::optional<io::raw_elements> raw_elements_of(const raw_options& options) {
  if (options.type.empty()) return std::nullopt;
  std::optional<std::vector<std::uint64_t>> shape;
  if (!options.shape.empty()) {
    shape = parse_sizes(options.shape);
    if (!shape || shape->size() > io::most_npy_dimensions)
      throw error(errc::invalid_argument, "--shape '" + base::printable(options.shape) +
                                              "' is not one to eight whole numbers with x between them, such as 3x4");
  }
  for (const dtype type : all_dtypes)
    if (options.type == name_of(type)) return io::raw_elements{type, shape};
  if (const std::optional<dtype> type = io::type_called(options.type)) return io::raw_elements{*type, shape};
  throw error(errc::invalid_argument, "--dtype '" + base::printable(options.type) +
                                          "' is not one of f4, f8, i4, i8, u4 and u8" +
                                          io::advice_for_raw_elements(options.type));
}

std::string slice_by_slice(std::span<const std::uint64_t> shape, slice_axis along, const std::string& command) {
  const bool is_last = along == slice_axis::last;
  const std::string all = " for i in range(" + std::to_string(is_last ? shape.back() : shape.front()) + ")]";
  return "compute its slices one by one: [np.save(f\"x{i}.npy\", " + std::string(is_last ? "x[..., i]" : "x[i]") + ")" +
         all + ", `" + command + "` and so on, np.stack([np.load(f\"y{i}.npy\")" + all + (is_last ? ", axis=-1)" : ")");
}

bool is_flat(std::span<const std::uint64_t> shape) {
  return std::count_if(shape.begin(), shape.end(), [](std::uint64_t size) { return size != 1; }) <= 1;
}

void require_dimensions(const std::string& path, std::span<const std::uint64_t> shape, std::size_t dimensions,
                        const std::string& advice) {
  if (shape.size() != dimensions) throw error(errc::invalid_argument, sentence(path, shape) + "; " + advice);
}

void require_dimensions(const array_file& file, std::size_t dimensions, const std::string& advice) {
  require_dimensions(file.path, file.shape(), dimensions, advice);
}

void require_one_type(const array_file& a, const array_file& b) {
  if (a.type() != b.type())
    throw error(errc::invalid_argument, base::printable(a.path) + " holds " + std::string(name_of(a.type())) + " and " +
                                            base::printable(b.path) + " holds " + std::string(name_of(b.type())) +
                                            "; convert one to the other's type");
}

namespace {

io::file_identity identity_of(const std::string& name, int stream) {
  return name == io::standard_stream ? io::identity_of_stream(stream) : io::identity_of(name);
}

std::string shown(const std::string& name, const char* stream) {
  return name == io::standard_stream ? stream : base::printable(name);
}

std::string shown_input(const std::string& name) { return shown(name, "standard input"); }
std::string shown_output(const std::string& name) { return shown(name, "standard output"); }

}  // namespace

void require_distinct_outputs(std::span<const std::string> outputs) {
  std::map<io::file_identity, std::string> seen;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    const auto [first, is_new] = seen.emplace(identity_of(output, STDOUT_FILENO), output);
    if (!is_new)
      throw error(errc::invalid_argument, "two outputs would go to one file: " + shown_output(first->second) + " and " +
                                              shown_output(output) + "; each needs its own");
  }
}

void refuse_overwriting(const std::string& input, const std::string& output) {
  if (!input.empty() && !output.empty() && identity_of(input, STDIN_FILENO) == identity_of(output, STDOUT_FILENO))
    throw error(errc::invalid_argument, "the output " + shown_output(output) + " is the input " + shown_input(input) +
                                            "; name another file for the output");
}

void require_distinct_streams(const std::string& first, const std::string& second) {
  if (first == io::standard_stream && second == io::standard_stream)
    throw error(errc::invalid_argument, "standard input holds one array; name a file for the other");
}

void require_free_output(const std::string& output, bool json) {
  if (json && identity_of(output, STDOUT_FILENO) == io::identity_of_stream(STDOUT_FILENO))
    throw error(errc::invalid_argument,
                "--json is printed to standard output, where the array goes; name a file of its own for it");
}

}  // namespace tilewise::cli
