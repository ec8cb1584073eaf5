// tilewise scan: running sums, products, minima or maxima of an array file, as an array file.
#include "base/number.hpp"
#include "cli/data_command.hpp"
#include "io/npy.hpp"

#include <optional>

namespace tilewise::cli {

namespace {

struct scan_request {
  common_options common;
  std::string input, output;
  std::string operation = "sum";
  bool exclusive = false;
  std::optional<std::string> init;
};

exit_code scan_file(const scan_request& request) {
  registry::problem p{.what = &registry::find_algorithm("scan"), .type = {}, .shape = {}};
  registry::choose_setting(p, "op", request.operation);
  registry::choose_setting(p, "kind", request.exclusive ? "exclusive" : "inclusive");
  registry::choose_setting(p, "init", request.init ? "given" : "none");
  const io::npy_array x = io::read_npy(request.input);
  p.type = x.type;
  p.shape = {x.count()};
  if (request.init) p.number[0] = base::parse_number(*request.init, x.type);
  const bytes* const inputs[] = {&x.data};
  return run_to_file(p, inputs, request.common, plan_run(p, request.common), request.output, x.shape);
}

}  // namespace

void add_scan(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("scan", "running sums, products, minima or maxima");
  auto request = std::make_shared<scan_request>();
  add_input_file(*command, "X.npy", request->input, "the array, of any shape: f4 f8 i4 i8 u4 u8");
  add_file_option(*command, "-o,--output", request->output, "where the result goes; required; may be X.npy", "Y.npy")
      ->required();
  command->add_option("--op", request->operation, "sum, product, min or max")->option_text("NAME");
  command->add_flag("--exclusive", request->exclusive, "y[i] leaves out x[i]; y[0] is the initial value");
  command->add_option("--init", request->init, "initial value; exclusive min and max need one")->option_text("V");
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "An array of any shape is scanned flat, in C order (the last index runs fastest),\n"
      "and the result keeps the shape. The file is the same to the last byte on every\n"
      "device; integers wrap.\n"
      "\n"
      "Examples:\n"
      "  tilewise scan x.npy -o y.npy\n"
      "  tilewise scan x.npy -o y.npy --exclusive --init 100 --device cuda:0\n"
      "  tilewise scan x.npy -o y.npy --op max --variant lookback -v");
  command->callback([&call, request] { call.run = [request] { return scan_file(*request); }; });
}

}  // namespace tilewise::cli
