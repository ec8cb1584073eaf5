// SPDX-License-Identifier: Apache-2.0
// tilewise matmul: multiplies two matrices from array files and writes an array file.
#include "tool/arrays/data_command.hpp"
#include "tool/arrays/file.hpp"

namespace tilewise::cli {

namespace {

struct matmul_request {
  common_options common;
  std::string a, b, output;
};

constexpr const char* one_row = "NumPy's a.reshape(1, -1) makes a vector one row";

std::string advice_for(const std::vector<std::uint64_t>& shape, const std::string& operands, const char* of_vector) {
  if (shape.size() < 2) return of_vector;
  if (shape.size() > 3) return "multiply its matrices one by one";
  return slice_by_slice(shape, slice_axis::first, "tilewise matmul " + operands + " -o y0.npy");
}

exit_code multiply_files(const matmul_request& request) {
  const auto [a, b] = open_arrays(request.a, request.b);
  require_dimensions(a, 2, "matmul takes two matrices; " + advice_for(a.shape(), "x0.npy B.npy", one_row));
  require_dimensions(b, 2,
                     "matmul takes two matrices; " +
                         advice_for(b.shape(), "A.npy x0.npy", "`tilewise matvec` takes a matrix and a vector"));
  const auto &rows = a.shape(), &columns = b.shape();
  if (rows[1] != columns[0])
    throw error(errc::invalid_argument, a.sentence() + " and " + b.sentence() +
                                            "; a product needs as many columns in the first as rows in the second");
  require_one_type(a, b);
  const registry::problem p{
      .what = &registry::find_algorithm("matmul"), .type = a.type(), .shape = {rows[0], columns[1], rows[1]}};
  io::array_input* const inputs[] = {a.input.get(), b.input.get()};
  const std::uint64_t shape[] = {rows[0], columns[1]};
  return run_to_file(p, inputs, request.common, plan_run(p, request.common), request.output, shape);
}

}  // namespace

void add_matmul(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("matmul", "the product of two matrices");
  auto request = std::make_shared<matmul_request>();
  add_input_array(*command, "A.npy", request->a, "a matrix: f4 f8 i4 i8 u4 u8");
  add_input_array(*command, "B.npy", request->b, "another of the same type");
  add_array_option(*command, "-o,--output", request->output, "where it goes; required; may be an input", "C.npy")
      ->required();
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "Each element is one chain of fused multiply-adds, k ascending from +0; the file\n"
      "is the same to the last byte on every device. Integers wrap. With --fast the\n"
      "result may be less exact, for example with TF32, and may differ by device.\n"
      "\"-\" is standard input or output. It takes the memory of all three.\n"
      "\n"
      "Examples:\n"
      "  tilewise matmul a.npy b.npy -o c.npy\n"
      "  tilewise matmul a.npy b.npy -o c.npy --device cuda:0 --fast -v");
  command->callback([&call, request] { call.run = [request] { return multiply_files(*request); }; });
}

}  // namespace tilewise::cli
