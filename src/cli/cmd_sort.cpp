// tilewise sort: the keys of an array file sorted, alone, with values or with their indices.
#include "cli/array_file.hpp"
#include "cli/data_command.hpp"
#include "cli/file_roles.hpp"
#include "io/array_output.hpp"
#include "lab/verify.hpp"

#include <deque>
#include <optional>

namespace tilewise::cli {

namespace {

struct sort_request {
  common_options common;
  std::string input, output, values, values_out, indices;
  raw_options raw;
  bool descending = false;
};

void refuse_half_a_pair(const sort_request& request) {
  if (!request.values.empty() && !request.indices.empty())
    throw error(errc::invalid_argument,
                "--values and --indices exclude each other: either values move with their keys, or the keys' indices "
                "are written; with the indices any values can be moved later");
  if (request.values.empty() != request.values_out.empty())
    throw error(errc::invalid_argument, "--values V.npy and --values-out W.npy belong together; give both or none");
}

/// The second output, if any: values that moved along, or indices.
struct companion {
  const char* field;
  std::string path;
  dtype type;
};

std::optional<array_file> read_values(const sort_request& request, const array_file& x) {
  if (request.values.empty()) return std::nullopt;
  array_file values = read_array(request.values);
  if (values.array.shape != x.array.shape)
    throw error(errc::invalid_argument,
                x.sentence() + " and " + values.sentence() + "; there must be one value for each key");
  return values;
}

std::optional<companion> companion_of(const sort_request& request, const std::optional<array_file>& values) {
  if (values) return companion{"values_digest", request.values_out, values->array.type};
  if (!request.indices.empty()) return companion{"indices_digest", request.indices, dtype::u32};
  return std::nullopt;
}

std::string_view payload_word(const std::optional<array_file>& values, const std::optional<companion>& second) {
  if (values) return size_of(values->array.type) == 8 ? "values64" : "values32";
  return second ? "indices" : "none";
}

/// X.npy and V.npy may be replaced by their own results, not by one another's.
void refuse_lost_files(const sort_request& request) {
  for (const std::string& second : {request.values_out, request.indices}) {
    require_distinct_outputs(request.output, second);
    refuse_overwriting(request.input, second);
  }
  refuse_overwriting(request.values, request.output);
  require_distinct_streams(request.input, request.values);
  for (const std::string& output : {request.output, request.values_out, request.indices})
    require_free_output(output, request.common.json);
}

exit_code sort_file(const sort_request& request) {
  refuse_half_a_pair(request);
  refuse_lost_files(request);
  const array_file x{request.input, io::array_input(request.input, raw_elements_of(request.raw)).read_all()};
  require_dimensions(x, 1, "sort takes one dimension; NumPy's x.ravel() flattens any array");
  const std::optional<array_file> values = read_values(request, x);
  const std::optional<companion> second = companion_of(request, values);
  registry::problem p{.what = &registry::find_algorithm("sort"), .type = x.array.type, .shape = {x.array.count()}};
  registry::choose_setting(p, "order", request.descending ? "descending" : "ascending");
  registry::choose_setting(p, "payload", payload_word(values, second));
  std::vector<const bytes*> inputs{&x.array.data};
  if (values) inputs.push_back(&values->array.data);
  data_run run = plan_run(p, request.common);
  std::deque<io::array_output> files;
  files.emplace_back(request.output, x.array.type, x.array.shape);
  if (second) files.emplace_back(second->path, second->type, x.array.shape);
  run_planned(p, inputs, request.common, run);
  tell(run, request.common);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].write_all(run.outputs[i]);
  for (io::array_output& file : files) file.commit();
  if (!request.common.json) return exit_code::ok;
  nlohmann::ordered_json fields = describe(p, run, x.array.shape, lab::digest_of(run.outputs[0]));
  if (second) fields[second->field] = lab::digest_of(run.outputs[1]);
  print_fields(std::move(fields), request.output);
  return exit_code::ok;
}

}  // namespace

void add_sort(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("sort", "a stable sort of an array, with values or indices");
  auto request = std::make_shared<sort_request>();
  add_input_array(*command, "X.npy", request->input, "the keys, one dimension: f4 f8 i4 i8 u4 u8");
  add_array_option(*command, "-o,--output", request->output, "where they go; required; may be X.npy", "Y.npy")
      ->required();
  command->add_flag("--descending", request->descending, "largest first; equal keys keep their order");
  add_array_option(*command, "--values", request->values, "values to move with the keys; any of these types", "V.npy");
  add_array_option(*command, "--values-out", request->values_out, "where the values go; may be V.npy", "W.npy");
  add_array_option(*command, "--indices", request->indices, "where each key was in X, as u4", "I.npy");
  add_raw_options(*command, request->raw);
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "One dimension only, since with two some would expect sorted rows and others the\n"
      "whole array sorted: np.ravel flattens any array.\n"
      "The files are those of np.sort and np.argsort with kind=\"stable\", except that\n"
      "-0.0 comes before +0.0 and NaNs are ordered too, after all else (first if\n"
      "descending). \"-\" is standard input or output, for .npy too. It takes three\n"
      "times the memory of the keys, and as much again for values.\n"
      "\n"
      "Examples:\n"
      "  tilewise sort x.npy -o y.npy\n"
      "  tilewise sort x.npy -o y.npy --descending --indices i.npy --device opencl:0\n"
      "  tilewise sort keys.npy -o k.npy --values names.npy --values-out n.npy");
  command->callback([&call, request] { call.run = [request] { return sort_file(*request); }; });
}

}  // namespace tilewise::cli
