// SPDX-License-Identifier: Apache-2.0
// tilewise matvec: multiplies a matrix and a vector from array files and writes an array file.
#include "tool/arrays/data_command.hpp"
#include "tool/arrays/file.hpp"

namespace tilewise::cli {

namespace {

struct matvec_request {
  common_options common;
  std::string a, x, output;
};

std::string advice_for(const std::vector<std::uint64_t>& shape) {
  if (shape.size() < 2) return "NumPy's a.reshape(1, -1) turns a vector into one";
  if (shape.size() > 3) return "multiply its matrices one by one";
  return slice_by_slice(shape, slice_axis::first, "tilewise matvec x0.npy X.npy -o y0.npy");
}

exit_code multiply_files(const matvec_request& request) {
  const auto [a, x] = open_arrays(request.a, request.x);
  require_dimensions(a, 2, "matvec takes a matrix first; " + advice_for(a.shape()));
  require_dimensions(x, 1,
                     std::string("matvec takes a vector second; ") +
                         (x.shape().size() < 2    ? "NumPy's x.ravel() makes a single value one"
                          : x.shape().size() == 2 ? "`tilewise matmul` takes two matrices"
                                                  : "multiply with its vectors one by one"));
  const auto& rows = a.shape();
  if (rows[1] != x.shape()[0])
    throw error(errc::invalid_argument,
                a.sentence() + " and " + x.sentence() +
                    "; a product needs as many elements in the vector as columns in the matrix");
  require_one_type(a, x);
  const registry::problem p{.what = &registry::find_algorithm("matvec"), .type = a.type(), .shape = {rows[0], rows[1]}};
  io::array_input* const inputs[] = {a.input.get(), x.input.get()};
  const std::uint64_t shape[] = {rows[0]};
  return run_to_file(p, inputs, request.common, plan_run(p, request.common), request.output, shape);
}

}  // namespace

void add_matvec(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("matvec", "the product of a matrix and a vector");
  auto request = std::make_shared<matvec_request>();
  add_input_array(*command, "A.npy", request->a, "a matrix: f4 f8 i4 i8 u4 u8");
  add_input_array(*command, "X.npy", request->x, "a vector of the same type");
  add_array_option(*command, "-o,--output", request->output, "where it goes; required; may be an input", "Y.npy")
      ->required();
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "Each element is the sum, in the order of `tilewise reduce`, of the products of a\n"
      "row with x; the file is the same to the last byte on every device. Integers\n"
      "wrap.\n"
      "For a dot product use a matrix of one row. \"-\" is standard input or output. It\n"
      "takes the memory of all three.\n"
      "\n"
      "Examples:\n"
      "  tilewise matvec a.npy x.npy -o y.npy\n"
      "  tilewise matvec a.npy x.npy -o y.npy --device opencl:0 --json");
  command->callback([&call, request] { call.run = [request] { return multiply_files(*request); }; });
}

}  // namespace tilewise::cli
