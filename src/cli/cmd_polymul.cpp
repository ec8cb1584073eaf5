// tilewise polymul: the product of two polynomials in array files, as an array file.
#include "cli/array_file.hpp"
#include "cli/data_command.hpp"
#include "polymul/polymul_overflow.hpp"
#include "polymul/polymul_problem.hpp"
#include "registry/catalog.hpp"

#include <algorithm>
#include <optional>

namespace tilewise::cli {

namespace {

struct polymul_request {
  common_options common;
  std::string a, b, output;
  std::optional<std::uint64_t> modulus;
};

void require_coefficients(const array_file& file) {
  require_dimensions(file, 1, "polymul takes coefficients of one dimension, and NumPy's a.ravel() makes one of any");
  const auto& types = impl::polymul::coefficient_types;
  if (std::find(types.begin(), types.end(), file.array.type) == types.end())
    throw error(errc::invalid_argument, file.sentence() + " of " + std::string(name_of(file.array.type)) +
                                            "; polymul takes i4, i8, f4 and f8: convert with NumPy's astype");
}

exit_code multiply_polynomials(const polymul_request& request) {
  const array_file a = read_array(request.a), b = read_array(request.b);
  for (const array_file* file : {&a, &b}) require_coefficients(*file);
  require_one_type(a, b);
  registry::problem p{
      .what = &registry::find_algorithm("polymul"), .type = a.array.type, .shape = {a.array.count(), b.array.count()}};
  if (request.modulus) impl::polymul::set_modulus(p, *request.modulus);
  const data_run run = run_problem(p, std::array{&a.array.data, &b.array.data}, request.common, request.common.json);
  if (!is_float(p.type) && !request.modulus)
    impl::polymul::require_exact(p, a.array.data.data(), b.array.data.data(),
                                 reinterpret_cast<const std::int64_t*>(run.outputs[0].data()), *run.device);
  const std::vector<std::uint64_t> shape{impl::polymul::sizes(p).product()};
  write_result(p, run, request.common, request.output, shape);
  return exit_code::ok;
}

}  // namespace

void add_polymul(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("polymul", "the product of two polynomials, exact on integers");
  auto request = std::make_shared<polymul_request>();
  command->add_option("A.npy", request->a, "coefficients, the constant first: i4 i8 f4 f8")
      ->option_text(" ")
      ->required();
  command->add_option("B.npy", request->b, "coefficients of the same type")->option_text(" ")->required();
  command->add_option("-o,--output", request->output, "where it goes, always needed; integers become i8")
      ->option_text("C.npy")
      ->required();
  command->add_option("--modulus", request->modulus, "integers: coefficients in [0, P), for P up to 2^63 - 1")
      ->option_text("P")
      ->check(whole_number(1, impl::polymul::modulus_end - 1));
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "Integers are exact: a coefficient that does not fit 64 bits is an error, exit\n"
      "code 5, unless a modulus is given. The file is the same to the last byte on\n"
      "every device.\n"
      "\n"
      "Examples:\n"
      "  tilewise polymul a.npy b.npy -o c.npy\n"
      "  tilewise polymul a.npy b.npy -o c.npy --modulus 998244353 --device opencl:0");
  command->callback([&call, request] { call.run = [request] { return multiply_polynomials(*request); }; });
}

}  // namespace tilewise::cli
