// SPDX-License-Identifier: Apache-2.0
#include "tool/problem_options.hpp"

#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "io/npy_header.hpp"
#include "lab/plan/problems.hpp"

#include <algorithm>

namespace tilewise::cli {

namespace {

/// "4096x4096x512": the algorithm says what each size is.
registry::extents parse_shape(const std::string& text) {
  registry::extents shape;
  const std::optional<std::vector<std::uint64_t>> sizes = parse_sizes(text);
  const auto is_too_large = [](std::uint64_t size) { return size > lab::most_elements; };
  if (!sizes || sizes->size() > shape.size.size() || std::any_of(sizes->begin(), sizes->end(), is_too_large))
    throw error(errc::invalid_argument,
                "--shape '" + base::printable(text) +
                    "' is not one to six whole numbers with x between them, such as 4096x4096x512");
  for (const std::uint64_t size : *sizes) shape.size[shape.rank++] = size;
  return shape;
}

/// What array files call f4 is f32 here, where types are those of records.
dtype type_from(const std::string& text) {
  if (const bool is_code = text.size() < 4; !is_code)  // int64, unlike i8, is nothing else elsewhere
    if (const std::optional<dtype> type = io::type_called(text)) return *type;
  std::vector<base::proposal> all;
  for (const dtype type : all_dtypes) {
    const std::string name(name_of(type));
    if (text == name) return type;
    all.push_back({name, name});
    all.push_back({name.front() + std::to_string(size_of(type)), name});
  }
  throw error(errc::invalid_argument,
              "there is no type '" + base::printable(text) + "';" + base::propose(text, std::move(all)));
}

/// "order=descending"
std::pair<std::string, std::string> parse_setting(const std::string& text) {
  const std::size_t middle = text.find('=');
  if (middle == text.npos)
    throw error(errc::invalid_argument,
                "--set '" + base::printable(text) + "' is not NAME=WORD, such as order=descending");
  return {text.substr(0, middle), text.substr(middle + 1)};
}

}  // namespace

void add_problem_options(CLI::App& command, problem_options& to) {
  several(command.add_option("--n", to.sizes, "elements: 1e6, 64K = 65536; for matrices the side")
              ->option_text("N,...")
              ->transform(number_of_elements(1)));
  several(command.add_option("--shape", to.shapes, "such as 4096x512; for matmul MxNxK")->option_text("AxB,..."));
  several(command.add_option("--set", to.settings, "a setting such as order=descending")->option_text("NAME=WORD,..."));
  several(command.add_option("--dtype", to.types, "f32 f64 i32 i64 u32 u64, instead of the preset's")
              ->option_text("T,..."));
  several(command.add_option("--op", to.operations, "sum, product, min, max, instead of the preset's")
              ->option_text("OP,..."));
}

void pose(const problem_options& asked, lab::request& to) {
  to.sizes = asked.sizes;
  for (const std::string& t : asked.types) to.types.push_back(type_from(t));
  for (const std::string& text : asked.shapes) to.shapes.push_back(parse_shape(text));
  for (const std::string& o : asked.operations) to.settings.emplace_back("op", o);
  for (const std::string& text : asked.settings) to.settings.push_back(parse_setting(text));
}

}  // namespace tilewise::cli
