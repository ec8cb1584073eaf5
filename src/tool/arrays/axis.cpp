// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/axis.hpp"

#include "registry/catalog.hpp"
#include "tool/arrays/file.hpp"

#include <charconv>
#include <functional>
#include <numeric>

namespace tilewise::cli {

namespace {

std::size_t position_of(int axis, std::size_t dimensions) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(dimensions) : axis);
}

std::uint64_t product_of(std::span<const std::uint64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
}

}  // namespace

void add_axis_option(CLI::App& command, std::optional<int>& to, const std::string& says) {
  command.add_option("--axis", to, says)->option_text("N")->check([](const std::string& text) {
    int value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size()
               ? ""
               : "'" + text + "' is not a number of an axis: 0 is the first, -1 the last";
  });
}

registry::problem problem_along(int axis, std::string_view algorithm, const std::string& path, dtype type,
                                std::span<const std::uint64_t> shape) {
  const std::size_t dimensions = shape.size(), at = position_of(axis, dimensions);
  if (at >= dimensions)
    throw error(errc::invalid_argument, sentence(path, shape) + "; it has no axis " + std::to_string(axis) +
                                            (dimensions == 0 ? "" : ": 0 is the first, -1 the last"));
  if (at != 0 && at + 1 != dimensions)
    throw error(errc::invalid_argument, sentence(path, shape) + ", and axis " + std::to_string(axis) +
                                            " lies between others; move it with NumPy's np.moveaxis(x, " +
                                            std::to_string(at) + ", -1) and use --axis -1");
  const bool of_columns = at == 0 && dimensions > 1;
  const std::uint64_t others = product_of(without_axis(axis, shape));
  registry::problem p{.what = &registry::find_algorithm(algorithm), .type = type, .shape = {others, shape[at]}};
  if (of_columns) p.shape = {shape[at], others};
  registry::choose_setting(p, "axis", of_columns ? "columns" : "rows");
  return p;
}

std::vector<std::uint64_t> without_axis(int axis, std::span<const std::uint64_t> shape) {
  std::vector<std::uint64_t> others(shape.begin(), shape.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(position_of(axis, shape.size())));
  return others;
}

CLI::Option* add_segments_option(CLI::App& command, std::string& to, const std::string& says) {
  return add_array_option(command, "--segments", to, says, "OFFSETS.npy")
      ->check(readable_by_ranks())
      ->check([](const std::string& file) { return file.empty() ? "is empty; name a file of offsets" : ""; })
      ->excludes(command.get_option("--axis"));
}

array_file open_offsets(const std::string& segments, const std::string& input, const std::string& output) {
  require_distinct_streams(input, segments);
  refuse_overwriting(segments, output);
  array_file offsets = open_array(segments);
  if (offsets.type() != dtype::i64 || offsets.shape().size() != 1)
    throw error(errc::invalid_argument, offsets.sentence() + " of " + std::string(name_of(offsets.type())) +
                                            "; --segments takes one dimension of i64, one more than segments: "
                                            "convert with NumPy's astype(\"i8\")");
  if (offsets.shape()[0] == 0)
    throw error(errc::invalid_argument, offsets.sentence() + "; for no segments there is one offset, which is 0");
  return offsets;
}

}  // namespace tilewise::cli
