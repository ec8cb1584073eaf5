// SPDX-License-Identifier: Apache-2.0
// tilewise reduce: computes one value from an array file.
#include "base/number.hpp"
#include "lab/verify/verify.hpp"
#include "tool/arrays/axis.hpp"
#include "tool/arrays/file.hpp"
#include "tool/arrays/stream.hpp"
#include "tool/output.hpp"
#include "tool/ranks/voice.hpp"

#include <charconv>
#include <cmath>
#include <optional>

namespace tilewise::cli {

namespace {

struct reduce_request {
  common_options common;
  std::string input, output, segments, keys, keys_out;
  raw_options raw;
  std::string operation = "sum";
  std::optional<std::string> init;
  std::optional<int> axis;
};

/// Writes what the options say about the reduction into the problem, which has its type and shape.
void choose(registry::problem& p, const reduce_request& request) {
  registry::choose_setting(p, "op", request.operation);
  registry::choose_setting(p, "init", request.init ? "given" : "none");
  if (request.init) p.number[0] = base::parse_number(*request.init, p.type);
}

/// A JSON number with the shortest digits. Null for NaN or infinity, which JSON lacks; the next field has the bits.
nlohmann::ordered_json json_number(const base::scalar_value& value) {
  const std::string text = base::to_string(value);
  if (!is_float(value.type)) return nlohmann::ordered_json::parse(text);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

base::scalar_value reduce_array(const registry::problem& p, io::array_input& x, const common_options& options,
                                data_run& run) {
  if (may_stream(x, run, options)) return reduce_in_chunks(p, x, run);
  run_from_files(p, std::array{&x}, options, run);
  base::scalar_value value{p.type, 0};
  std::memcpy(&value.bits, run.outputs[0].data(), run.outputs[0].size());
  return value;
}

exit_code reduce_along(const reduce_request& request, io::array_input& x) {
  registry::problem p = problem_along(*request.axis, "reduce_axis", request.input, x.type(), x.shape());
  choose(p, request);
  return run_to_file(p, std::array{&x}, request.common, plan_run(p, request.common), request.output,
                     without_axis(*request.axis, x.shape()));
}

exit_code reduce_segments(const reduce_request& request, io::array_input& x) {
  const array_file offsets = open_offsets(request.segments, request.input, request.output);
  const std::array count{offsets.shape()[0] - 1};
  registry::problem p{.what = &registry::find_algorithm("segment_reduce"),
                      .type = x.type(),
                      .shape = {x.bytes() / size_of(x.type()), count[0]}};
  choose(p, request);
  return run_to_file(p, std::array{&x, offsets.input.get()}, request.common, plan_run(p, request.common),
                     request.output, count);
}

/// Runs of equal keys, each with its key, and the offsets of their elements.
struct found_runs {
  std::uint64_t count;
  bytes keys, offsets;
};

found_runs find_runs(io::array_input& keys, const reduce_request& request) {
  common_options anywhere = request.common;
  anywhere.variant.clear(), anywhere.tuning.clear();  // of the reduction
  registry::problem p{.what = &registry::find_algorithm("runs"),
                      .type = keys.type(),
                      .shape = {keys.bytes() / size_of(keys.type()), 0}};
  const auto run_for = [&](std::uint64_t runs) {
    p.shape = {p.n(), runs};
    data_run run = plan_run(p, anywhere);
    run_from_files(p, std::array{&keys}, anywhere, run);
    return std::move(run.outputs);
  };
  std::uint64_t count = 0;
  std::memcpy(&count, run_for(0)[0].data(), sizeof count);
  std::vector<bytes> found = run_for(count);
  return {count, std::move(found[1]), std::move(found[2])};
}

exit_code reduce_by_key(const reduce_request& request, io::array_input& x) {
  require_distinct_streams(request.input, request.keys);
  require_distinct_outputs(std::array{request.output, request.keys_out});
  refuse_overwriting(request.input, request.keys_out);
  require_free_output(request.keys_out, request.common.json);
  const array_file file = open_array(request.keys);
  const std::uint64_t n = x.bytes() / size_of(x.type());
  if (file.input->bytes() / size_of(file.type()) != n)
    throw error(errc::invalid_argument, file.sentence() + " and " + sentence(request.input, x.shape()) +
                                            "; each element has one key, so both have as many");
  io::array_input keys(file.input->read_all());  // they are read twice
  found_runs found = find_runs(keys, request);
  const std::array count{found.count};
  registry::problem p{.what = &registry::find_algorithm("segment_reduce"), .type = x.type(), .shape = {n, found.count}};
  choose(p, request);
  io::array_input offsets({.type = dtype::i64, .shape = {found.count + 1}, .data = std::move(found.offsets)});
  std::optional<io::array_output> keys_out;
  if (!request.keys_out.empty() && is_first_rank()) keys_out.emplace(request.keys_out, keys.type(), count);
  const exit_code done =
      run_to_file(p, std::array{&x, &offsets}, request.common, plan_run(p, request.common), request.output, count);
  if (!keys_out) return done;
  keys_out->write(0, found.keys);
  keys_out->commit();
  return done;
}

exit_code reduce_file(const reduce_request& request) {
  io::array_input x(request.input, raw_elements_of(request.raw));
  if (request.axis) return reduce_along(request, x);
  if (!request.segments.empty()) return reduce_segments(request, x);
  if (!request.keys.empty()) return reduce_by_key(request, x);
  registry::problem p{
      .what = &registry::find_algorithm("reduce"), .type = x.type(), .shape = {x.bytes() / size_of(x.type())}};
  choose(p, request);
  data_run run = plan_stream(p, request.common);
  const base::scalar_value value = reduce_array(p, x, request.common, run);
  tell(run, request.common);
  if (!request.common.json) {
    print(base::to_string(value) + "\n");
    return exit_code::ok;
  }
  const std::span<const std::byte> bits = std::as_bytes(std::span(&value.bits, 1)).first(size_of(p.type));
  nlohmann::ordered_json fields = describe(p, run, x.shape(), lab::digest_of(bits));
  fields["value"] = json_number(value);
  fields["value_hex"] = base::to_hex(value);
  print_json(fields);
  return exit_code::ok;
}

}  // namespace

void add_reduce(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("reduce", "the sum, product, minimum or maximum of an array");
  auto request = std::make_shared<reduce_request>();
  add_input_array(*command, "X.npy", request->input, "the array, of any shape: f4 f8 i4 i8 u4 u8");
  command->add_option("--op", request->operation, "sum, product, min or max")->option_text("NAME");
  command->add_option("--init", request->init, "initial value; min and max of no elements need one")->option_text("V");
  add_axis_option(*command, request->axis, "a value of each line along it: 0 first, -1 last");
  CLI::Option* const axis = command->get_option("--axis");
  CLI::Option* const segments =
      add_segments_option(*command, request->segments, "a value of each: x[offsets[s]:offsets[s + 1]]");
  CLI::Option* const by =
      add_array_option(*command, "--by", request->keys, "a value of each run of equal keys", "KEYS.npy")
          ->check(readable_by_ranks())
          ->excludes(axis)
          ->excludes(segments);
  CLI::Option* const output = add_array_option(*command, "-o,--output", request->output,
                                               "where the values along an axis, or of pieces, go", "Y.npy");
  add_array_option(*command, "--keys-out", request->keys_out, "where each run's key goes; may be KEYS.npy", "K.npy")
      ->needs(by);
  for (CLI::Option* const pieces : {axis, segments, by}) pieces->needs(output);
  add_raw_options(*command, request->raw);
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "An array of any shape is read flat, in C order, unless --axis names its first or\n"
      "last axis: of a matrix, 0 gives a value for each column, 1 for each row; or\n"
      "--segments names its pieces, as the indptr of a CSR matrix does; or --by gives\n"
      "each element a key, and equal keys in a row are a piece: sort by key first.\n"
      "Values are the same to the last bit on every device; integers wrap. \"-\" is\n"
      "standard input or output.\n"
      "With --init the result is V + sum of this file, rounded once more. So adding\n"
      "yesterday's sum this way does not give the bits of one array; use `partial` of\n"
      "Python or C++.\n"
      "On the CPU any length takes 1 MB a thread of memory; on other devices, with\n"
      "--variant, for pieces and in Fortran order, it takes the array once, and the\n"
      "keys of --by twice.\n"
      "\n"
      "Examples:\n"
      "  tilewise reduce x.npy\n"
      "  tilewise reduce x.npy --op max --device opencl:0\n"
      "  tilewise reduce table.npy --axis 0 -o sums.npy\n"
      "  tilewise reduce x.npy --segments indptr.npy -o sums.npy\n"
      "  tilewise sort key.npy -o k.npy --values x.npy --values-out v.npy\n"
      "  tilewise reduce v.npy --by k.npy -o sums.npy --keys-out keys.npy\n"
      "  tilewise reduce x.npy --json              with digest, bits, variant and times\n"
      "  head -c 4000 x.bin | tilewise reduce - --dtype f4");
  command->callback([&call, request, output] {
    if (output->count() != 0 && !request->axis && request->segments.empty() && request->keys.empty())
      throw CLI::RequiresError("-o,--output", "--axis, --segments or --by");
    call.run = [request] { return reduce_file(*request); };
  });
}

}  // namespace tilewise::cli
