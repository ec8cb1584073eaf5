// tilewise reduce: one value from an array file.
#include "base/number.hpp"
#include "cli/data_command.hpp"
#include "cli/output.hpp"
#include "io/npy.hpp"

#include <charconv>
#include <cmath>
#include <optional>

namespace tilewise::cli {

namespace {

struct reduce_request {
  common_options common;
  std::string input;
  std::string operation = "sum";
  std::optional<std::string> init;
};

/// A JSON number with the digits of the shortest text; null for a NaN or an infinity, which JSON lacks: the bits are
/// in the next field.
nlohmann::ordered_json json_number(const base::scalar_value& value) {
  const std::string text = base::to_string(value);
  if (!is_float(value.type)) return nlohmann::ordered_json::parse(text);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

exit_code reduce_file(const reduce_request& request) {
  registry::problem p{.what = &registry::find_algorithm("reduce"), .type = {}, .shape = {}};
  registry::choose_setting(p, "op", request.operation);
  registry::choose_setting(p, "init", request.init ? "given" : "none");
  const io::npy_array x = io::read_npy(request.input);
  p.type = x.type;
  p.shape = {x.count()};
  if (request.init) p.number[0] = base::parse_number(*request.init, x.type);
  const bytes* const inputs[] = {&x.data};
  data_run run = plan_run(p, request.common);
  run_planned(p, inputs, request.common, run);
  tell(run, request.common);
  base::scalar_value value{x.type, 0};
  std::memcpy(&value.bits, run.outputs[0].data(), run.outputs[0].size());
  if (!request.common.json) {
    print(base::to_string(value) + "\n");
    return exit_code::ok;
  }
  nlohmann::ordered_json fields = describe(p, run, x.shape);
  fields["value"] = json_number(value);
  fields["value_hex"] = base::to_hex(value);
  print_json(fields);
  return exit_code::ok;
}

}  // namespace

void add_reduce(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("reduce", "the sum, product, minimum or maximum of an array");
  auto request = std::make_shared<reduce_request>();
  add_input_file(*command, "X.npy", request->input, "the array, of any shape: f4 f8 i4 i8 u4 u8");
  command->add_option("--op", request->operation, "sum, product, min or max")->option_text("NAME");
  command->add_option("--init", request->init, "initial value; min and max of no elements need one")->option_text("V");
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "An array of any shape is read flat, in C order. The value is the same to the\n"
      "last bit on every device; integers wrap.\n"
      "\n"
      "Examples:\n"
      "  tilewise reduce x.npy\n"
      "  tilewise reduce x.npy --op max --device opencl:0\n"
      "  tilewise reduce x.npy --json              with digest, bits, variant and times");
  command->callback([&call, request] { call.run = [request] { return reduce_file(*request); }; });
}

}  // namespace tilewise::cli
