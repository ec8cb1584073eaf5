// SPDX-License-Identifier: Apache-2.0
// The command of any algorithm whose descriptor has a signature: reads its arrays, computes, writes its result.
#include "base/number.hpp"
#include "io/npy_header.hpp"
#include "registry/catalog.hpp"
#include "tool/arrays/data_command.hpp"
#include "tool/arrays/file.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace tilewise::cli {

namespace {

using registry::algorithm;
using registry::parameter;
using registry::problem;
using registry::signature;

struct array_request {
  const algorithm* what;
  common_options common;
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::optional<std::string>> options;  // in the order of the signature's

  const signature& form() const { return *what->called; }
};

constexpr std::string_view flat = "*";

std::string upper(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}
std::string file_called(std::string_view name) { return upper(name) + ".npy"; }

/// "f4 f8", or "f4, f8 and i4".
std::string listed(std::span<const dtype> types, const std::string& between, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += (i == 0 ? "" : i + 1 == types.size() ? last : between) + std::string(io::numpy_code(types[i]));
  return text;
}

/// The command with the first slices of this input.
std::string command_of_slices(const array_request& request, const parameter& input) {
  std::string text = "tilewise " + std::string(request.what->name);
  for (const parameter& p : request.form().inputs) text += " " + (&p == &input ? "x0.npy" : file_called(p.name));
  return text + " -o y0.npy";
}

/// How to compute an array that has not as many dimensions as this input needs.
std::string advice_for(const array_request& request, const parameter& input, const std::vector<std::uint64_t>& shape) {
  const std::size_t needed = input.dimensions.size();
  if (needed == 1 && is_flat(shape)) return "NumPy's x.ravel() makes it that";
  if (needed == 2 && shape.size() < 2) return "NumPy's x.reshape(1, -1) makes it one row, x.reshape(-1, 1) one column";
  if (needed != 2 || shape.size() != 3) return "compute its parts one by one";
  const bool has_channels = input.is_image && shape[2] <= shape[0];
  return slice_by_slice(shape, has_channels ? slice_axis::last : slice_axis::first, command_of_slices(request, input));
}

void require_form(const array_request& request, const parameter& input, const array_file& file) {
  const std::size_t needed = input.dimensions.size();
  if (input.dimensions != flat)
    require_dimensions(file, needed,
                       std::string(request.what->name) + " takes " +
                           (needed == 1 ? "one dimension" : "two dimensions") + " as " + upper(input.name) + "; " +
                           advice_for(request, input, file.shape()));
  const auto& types = request.what->types;
  if (std::find(types.begin(), types.end(), file.type()) != types.end()) return;
  const bool has_integers = std::find(types.begin(), types.end(), dtype::i64) != types.end();
  throw error(errc::invalid_argument, file.sentence() + " of " + std::string(name_of(file.type())) + "; " +
                                          std::string(request.what->name) + " takes " + listed(types, ", ", " and ") +
                                          ": convert with NumPy's astype(\"" + (has_integers ? "i8" : "f8") + "\")");
}

/// "A of m x k and B of k x n"
std::string forms(const signature& of) {
  std::string text;
  for (const parameter& p : of.inputs) {
    text += (text.empty() ? "" : " and ") + upper(p.name) + " of";
    for (std::size_t d = 0; d < p.dimensions.size(); ++d)
      text += (d == 0 ? " " : " x ") + std::string(1, p.dimensions[d]);
  }
  return text;
}

/// Sets the problem's sizes from the arrays' shapes. The same letter is the same size.
void set_sizes(problem& p, const array_request& request, std::span<const array_file> files) {
  const std::string_view letters = request.form().sizes;
  std::vector<const array_file*> given_by(letters.size());
  p.shape.rank = static_cast<unsigned>(letters.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const parameter& input = request.form().inputs[i];
    if (input.dimensions == flat) {
      p.shape.size[i] = files[i].input->bytes() / size_of(files[i].type());
      continue;
    }
    for (std::size_t d = 0; d < input.dimensions.size(); ++d) {
      const std::size_t at = letters.find(input.dimensions[d]);
      const std::uint64_t size = files[i].shape()[d];
      if (given_by[at] != nullptr && p.shape[static_cast<unsigned>(at)] != size)
        throw error(errc::invalid_argument, given_by[at]->sentence() + " and " + files[i].sentence() + "; " +
                                                std::string(request.what->name) + " takes " + forms(request.form()));
      given_by[at] = &files[i];
      p.shape.size[at] = size;
    }
  }
}

base::scalar_value number_from(const std::string& text, const registry::option& of, dtype type) {
  try {
    return base::parse_number(text, type);
  } catch (const error& e) {
    throw error(e.code(), "--" + std::string(of.name) + ": " + e.what());
  }
}

/// Sets what the options choose: settings, and numbers with the setting that says whether they are given.
void set_options(problem& p, const array_request& request) {
  const auto& settings = request.what->settings;
  const auto& numbers = request.what->numbers;
  for (std::size_t i = 0; i < request.options.size(); ++i) {
    const registry::option& o = request.form().options[i];
    const std::optional<std::string>& text = request.options[i];
    const auto number = std::find(numbers.begin(), numbers.end(), o.name);
    const bool is_number = number != numbers.end();
    const bool has_setting =
        std::any_of(settings.begin(), settings.end(), [&](const registry::setting& s) { return s.name == o.name; });
    if (has_setting && is_number) registry::choose_setting(p, o.name, text ? "given" : "none");
    if (!text) continue;
    if (has_setting && !is_number) registry::choose_setting(p, o.name, *text);
    if (is_number)
      p.number[static_cast<std::size_t>(number - numbers.begin())] = number_from(*text, o, o.type.value_or(p.type));
  }
}

std::vector<std::uint64_t> shape_of_result(const problem& p, const array_request& request, const array_file& first) {
  const signature& form = request.form();
  if (form.result.dimensions == flat) return first.shape();
  if (form.result.dimensions.empty()) return form.shape_of_result(p);
  std::vector<std::uint64_t> shape;
  for (const char letter : form.result.dimensions)
    shape.push_back(p.shape[static_cast<unsigned>(form.sizes.find(letter))]);
  return shape;
}

exit_code compute_files(const array_request& request) {
  for (std::size_t i = 1; i < request.inputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) require_distinct_streams(request.inputs[j], request.inputs[i]);
  std::vector<array_file> files;
  for (const std::string& path : request.inputs) files.push_back(open_array(path));
  for (std::size_t i = 0; i < files.size(); ++i) require_form(request, request.form().inputs[i], files[i]);
  for (const array_file& file : files) require_one_type(files.front(), file);
  problem p{.what = request.what, .type = files.front().type(), .shape = {}};
  set_sizes(p, request, files);
  set_options(p, request);
  data_run run = plan_run(p, request.common);
  std::vector<io::array_input*> inputs;
  for (const array_file& file : files) inputs.push_back(file.input.get());
  return run_to_file(p, inputs, request.common, std::move(run), request.output,
                     shape_of_result(p, request, files.front()));
}

/// The library's messages name its numbers, such as `modulus`; this command's user needs the option's name.
exit_code compute_or_name_option(const array_request& request) {
  try {
    return compute_files(request);
  } catch (const error& e) {
    const std::string what = e.what();
    for (const registry::option& o : request.form().options)
      if (e.code() == errc::overflow && what.find(o.name) != what.npos)
        throw error(e.code(), what + " (--" + std::string(o.name) + " " + std::string(o.value) + ")");
    throw;
  }
}

}  // namespace

void add_algorithm(CLI::App& app, invocation& call, const algorithm& what) {
  const signature& form = *what.called;
  CLI::App* command = app.add_subcommand(std::string(what.name), std::string(form.says));
  auto request =
      std::make_shared<array_request>(array_request{&what,
                                                    {},
                                                    std::vector<std::string>(form.inputs.size()),
                                                    {},
                                                    std::vector<std::optional<std::string>>(form.options.size())});
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    add_input_array(
        *command, file_called(form.inputs[i].name), request->inputs[i],
        std::string(form.inputs[i].says) + (i == 0 ? ": " + listed(what.types, " ", " ") : " of the same type"));
  add_array_option(*command, "-o,--output", request->output, std::string(form.result.says),
                   file_called(form.result.name))
      ->required();
  for (std::size_t i = 0; i < form.options.size(); ++i)
    command
        ->add_option("--" + std::string(form.options[i].name), request->options[i], std::string(form.options[i].says))
        ->option_text(std::string(form.options[i].value));
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(std::string(form.notes) + "\n\nExamples:\n" + std::string(form.examples));
  command->callback([&call, request] { call.run = [request] { return compute_or_name_option(*request); }; });
}

}  // namespace tilewise::cli
