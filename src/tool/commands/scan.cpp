// SPDX-License-Identifier: Apache-2.0
// tilewise scan: computes running sums, products, minima or maxima of an array file and writes an array file.
#include "base/number.hpp"
#include "io/array_output.hpp"
#include "lab/verify/verify.hpp"
#include "tool/arrays/axis.hpp"
#include "tool/arrays/file.hpp"
#include "tool/arrays/stream.hpp"

#include <optional>

namespace tilewise::cli {

namespace {

struct scan_request {
  common_options common;
  std::string input, output, segments;
  raw_options raw;
  std::string operation = "sum";
  bool exclusive = false;
  std::optional<std::string> init;
  std::optional<int> axis;
};

/// Writes what the options say about the scan into the problem, which has its type and shape.
void choose(registry::problem& p, const scan_request& request) {
  registry::choose_setting(p, "op", request.operation);
  registry::choose_setting(p, "kind", request.exclusive ? "exclusive" : "inclusive");
  registry::choose_setting(p, "init", request.init ? "given" : "none");
  if (request.init) p.number[0] = base::parse_number(*request.init, p.type);
}

exit_code scan_stream(const scan_request& request, const registry::problem& p, io::array_input& x, data_run& run) {
  require_free_output(request.output, request.common.json);
  io::array_output y(request.output, p.type, x.shape());
  lab::digest sum;
  scan_in_chunks(p, x, y, run, request.common.json ? &sum : nullptr);
  tell(run, request.common);
  y.commit();
  if (request.common.json) print_fields(describe(p, run, x.shape(), sum.text()), request.output);
  return exit_code::ok;
}

exit_code scan_segments(const scan_request& request, io::array_input& x) {
  const array_file offsets = open_offsets(request.segments, request.input, request.output);
  registry::problem p{.what = &registry::find_algorithm("segment_scan"),
                      .type = x.type(),
                      .shape = {x.bytes() / size_of(x.type()), offsets.shape()[0] - 1}};
  choose(p, request);
  return run_to_file(p, std::array{&x, offsets.input.get()}, request.common, plan_run(p, request.common),
                     request.output, x.shape());
}

exit_code scan_file(const scan_request& request) {
  io::array_input file(request.input, raw_elements_of(request.raw));
  if (!request.segments.empty()) return scan_segments(request, file);
  registry::problem p{
      .what = &registry::find_algorithm("scan"), .type = file.type(), .shape = {file.bytes() / size_of(file.type())}};
  if (request.axis) p = problem_along(*request.axis, "scan_axis", request.input, file.type(), file.shape());
  choose(p, request);
  data_run run = request.axis ? plan_run(p, request.common) : plan_stream(p, request.common);
  if (!request.axis && may_stream(file, run, request.common)) return scan_stream(request, p, file, run);
  return run_to_file(p, std::array{&file}, request.common, std::move(run), request.output, file.shape());
}

}  // namespace

void add_scan(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("scan", "running sums, products, minima or maxima");
  auto request = std::make_shared<scan_request>();
  add_input_array(*command, "X.npy", request->input, "the array, of any shape: f4 f8 i4 i8 u4 u8");
  add_array_option(*command, "-o,--output", request->output, "where the result goes; required; may be X.npy", "Y.npy")
      ->required();
  command->add_option("--op", request->operation, "sum, product, min or max")->option_text("NAME");
  command->add_flag("--exclusive", request->exclusive, "y[i] leaves out x[i]; y[0] is the initial value");
  command->add_option("--init", request->init, "initial value; exclusive min and max need one")->option_text("V");
  add_axis_option(*command, request->axis, "each line along it by itself: 0 first, -1 last");
  add_segments_option(*command, request->segments, "each by itself: x[offsets[s]:offsets[s + 1]]");
  add_raw_options(*command, request->raw);
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "An array of any shape is scanned flat, in C order (the last index runs fastest),\n"
      "unless --axis names its first or last axis: of a matrix, 0 scans each column, 1\n"
      "each row; or --segments names its pieces, as the indptr of a CSR matrix does.\n"
      "The result keeps the shape. The file is the same to the last byte on every\n"
      "device; integers wrap. \"-\" is standard input or output, for .npy too.\n"
      "With --init each element is V plus the sum so far of this file: to continue an\n"
      "older file with the bits of both in one array, use `partial` of Python or C++.\n"
      "On the CPU any length takes 1 MB a thread of memory; on other devices, with\n"
      "--variant, with --axis or --segments and in Fortran order, it takes the array\n"
      "twice.\n"
      "\n"
      "Examples:\n"
      "  tilewise scan x.npy -o y.npy\n"
      "  tilewise scan x.npy -o y.npy --exclusive --init 100 --device cuda:0\n"
      "  tilewise scan table.npy -o y.npy --axis 0\n"
      "  tilewise scan x.npy -o y.npy --segments indptr.npy\n"
      "  tilewise scan x.npy -o y.npy --op max --variant cpu -v\n"
      "  tilewise scan - -o - < x.npy | tilewise sort - -o y.npy");
  command->callback([&call, request] { call.run = [request] { return scan_file(*request); }; });
}

}  // namespace tilewise::cli
