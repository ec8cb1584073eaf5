// SPDX-License-Identifier: Apache-2.0
// tilewise polymul: multiplies two polynomials from array files and writes an array file.
#include "registry/catalog.hpp"
#include "tool/arrays/data_command.hpp"
#include "tool/arrays/file.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace tilewise::cli {

namespace {

struct polymul_request {
  common_options common;
  std::string a, b, output;
  std::optional<std::uint64_t> modulus;
};

void require_coefficients(const array_file& file) {
  require_dimensions(file, 1,
                     std::string("polymul takes one-dimensional coefficients; ") +
                         (is_flat(file.shape()) ? "NumPy's a.ravel() makes them that"
                                                : "multiply its rows one by one, the first of which is a[0]"));
  const auto& types = registry::find_algorithm("polymul").types;
  if (std::find(types.begin(), types.end(), file.type()) == types.end())
    throw error(errc::invalid_argument, file.sentence() + " of " + std::string(name_of(file.type())) +
                                            "; polymul takes i4, i8, f4 and f8: convert with NumPy's astype(\"i8\")");
}

exit_code multiply_polynomials(const polymul_request& request) {
  const auto [a, b] = open_arrays(request.a, request.b);
  for (const array_file* file : {&a, &b}) require_coefficients(*file);
  require_one_type(a, b);
  registry::problem p{
      .what = &registry::find_algorithm("polymul"), .type = a.type(), .shape = {a.shape()[0], b.shape()[0]}};
  if (request.modulus) {
    registry::choose_setting(p, "modulus", "given");
    p.number[0] = {dtype::i64, *request.modulus};
  }
  data_run run = plan_run(p, request.common);
  const std::vector<std::uint64_t> shape{p.what->outputs(p).front().count};
  return run_to_file(p, std::array{a.input.get(), b.input.get()}, request.common, std::move(run), request.output,
                     shape);
}

/// The library's message names its parameter `modulus`; this command's user needs the option's name.
exit_code multiply_or_name_option(const polymul_request& request) {
  try {
    return multiply_polynomials(request);
  } catch (const error& e) {
    if (e.code() != errc::overflow) throw;
    throw error(e.code(), std::string(e.what()) + " (--modulus P)");
  }
}

}  // namespace

void add_polymul(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("polymul", "the product of two polynomials, exact on integers");
  auto request = std::make_shared<polymul_request>();
  add_input_array(*command, "A.npy", request->a, "coefficients, the constant first: i4 i8 f4 f8");
  add_input_array(*command, "B.npy", request->b, "coefficients of the same type");
  add_array_option(*command, "-o,--output", request->output, "required; may be an input; integers become i8", "C.npy")
      ->required();
  command->add_option("--modulus", request->modulus, "integers: coefficients in [0, P), for P up to 2^63 - 1")
      ->option_text("P")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()));
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "Integers are exact: a coefficient that needs more than 64 bits is an error, exit\n"
      "code 5, unless a modulus is given. The file is the same to the last byte on\n"
      "every device. \"-\" is standard input or output. It takes the memory of all\n"
      "three, and several times that for work.\n"
      "\n"
      "Examples:\n"
      "  tilewise polymul a.npy b.npy -o c.npy\n"
      "  tilewise polymul a.npy b.npy -o c.npy --modulus 998244353 --device opencl:0");
  command->callback([&call, request] { call.run = [request] { return multiply_or_name_option(*request); }; });
}

}  // namespace tilewise::cli
