// tilewise reduce: one value from an array file.
#include "cli/data_command.hpp"
#include "cli/output.hpp"
#include "io/npy.hpp"
#include "io/number.hpp"

#include <charconv>
#include <cmath>

namespace tilewise::cli {

namespace {

struct reduce_request {
  common_options common;
  std::string input;
  std::string operation = "sum";
};

/// A JSON number with the digits of the shortest text; null for a NaN or an infinity, which JSON has not: the bits are
/// beside it.
nlohmann::ordered_json json_number(const registry::scalar_value& value) {
  const std::string text = io::to_text(value);
  if (!is_float(value.type)) return nlohmann::ordered_json::parse(text);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

exit_code reduce_file(const reduce_request& request) {
  registry::problem p{.what = &registry::find_algorithm("reduce"), .type = {}, .shape = {}};
  registry::choose_setting(p, "op", request.operation);
  const io::npy_array x = io::read_npy(request.input);
  p.type = x.type;
  p.shape = {x.count()};
  const bytes* const inputs[] = {&x.data};
  const data_run run = run_problem(p, inputs, request.common, request.common.json);
  tell(run, request.common);
  registry::scalar_value value{x.type, 0};
  std::memcpy(&value.bits, run.outputs[0].data(), run.outputs[0].size());
  if (!request.common.json) {
    print(io::to_text(value) + "\n");
    return exit_code::ok;
  }
  nlohmann::ordered_json fields = describe(p, run, x.shape);
  fields["value"] = json_number(value);
  fields["value_hex"] = io::to_hex(value);
  print(fields.dump() + "\n");
  return exit_code::ok;
}

}  // namespace

void add_reduce(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("reduce", "the sum, product, minimum or maximum of an array");
  auto request = std::make_shared<reduce_request>();
  command->add_option("X.npy", request->input, "the array, of any shape: f4 f8 i4 i8 u4 u8")
      ->option_text(" ")
      ->required();
  command->add_option("--op", request->operation, "sum, product, min or max")->option_text("NAME");
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "An array of any shape is taken flat, in C order. The value is the same to the\n"
      "last bit on every device; integers wrap.\n"
      "\n"
      "Examples:\n"
      "  tilewise reduce x.npy\n"
      "  tilewise reduce x.npy --op max --device opencl:0\n"
      "  tilewise reduce x.npy --json              with digest, bits, variant and times");
  command->callback([&call, request] { call.run = [request] { return reduce_file(*request); }; });
}

}  // namespace tilewise::cli
