// SPDX-License-Identifier: Apache-2.0
// tilewise sort: sorts the keys of an array file, alone, with values, or with their indices.
#include "base/ceil_div.hpp"
#include "base/printable.hpp"
#include "io/array_output.hpp"
#include "io/host_memory.hpp"
#include "io/scratch_file.hpp"
#include "lab/verify/verify.hpp"
#include "sort/code.hpp"
#include "sort/problem.hpp"
#include "sort/split.hpp"
#include "tool/arrays/axis.hpp"
#include "tool/arrays/data_command.hpp"
#include "tool/arrays/file.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <optional>

namespace tilewise::cli {

namespace {

struct sort_request {
  common_options common;
  std::string input, output, values, values_out, indices, scratch, segments;
  raw_options raw;
  bool descending = false;
  std::optional<int> axis;
};

/// The keys' files first, then those of the values. Indices are only an output.
struct sort_files {
  std::vector<io::array_input*> in;
  std::deque<io::array_output> out;
};

/// Memory for a sort: an array, its sorted copy, and a workspace.
constexpr std::uint64_t copies = 3;

/// For the stacks of threads that read and write, and for the unused rest of huge pages.
constexpr std::uint64_t reserve = 32 << 20;

/// Sorting in shorter runs is not worth it.
constexpr std::uint64_t shortest_run = 1 << 16;

std::uint64_t element_bytes(const registry::problem& p) {
  return size_of(p.type) + impl::sort::payload_size(impl::sort::payload_of(p));
}

/// Sorts more than memory holds. First, runs of the input are sorted and written to scratch files. Then the output is
/// made in parts, each from one piece of every run.
class run_sort {
 public:
  run_sort(const registry::problem& p, std::uint64_t run_length, const std::string& folder, sort_files& files,
           const common_options& options, data_run& run)
      : p_(p), length_(run_length), files_(files), options_(options), run_(run), widths_{size_of(p.type)} {
    if (files.out.size() > 1) widths_.push_back(impl::sort::payload_size(impl::sort::payload_of(p)));
    for (const std::size_t width : widths_) scratch_.emplace_back(folder, p.n() * width);
    for (std::uint64_t begin = 0; begin < p.n(); begin += length_) lengths_.push_back(std::min(length_, p.n() - begin));
  }

  void make_runs() {
    for (std::uint64_t k = 0; k < lengths_.size(); ++k) {
      const std::uint64_t begin = k * length_;
      sort(
          lengths_[k], [&](std::size_t c, bytes& into) { read(c, begin, into); },
          [&](std::size_t c, const bytes& sorted) { scratch_[c].write(begin * widths_[c], sorted); });
    }
  }

  /// Each part is as long as a run. Its pieces are found by cutting all runs at the rank where the part begins.
  template <class T>
  void make_output(std::span<lab::digest> digests) {
    std::vector<std::uint64_t> from(lengths_.size(), 0);
    for (std::uint64_t begin = 0; begin < p_.n(); begin += length_) {
      const std::uint64_t n = std::min(length_, p_.n() - begin);
      const std::vector<std::uint64_t> to = cuts_at<T>(begin + n);
      sort(
          n, [&](std::size_t c, bytes& into) { gather(c, from, to, into); },
          [&](std::size_t c, const bytes& sorted) {
            if (c < digests.size()) digests[c].add(sorted);
            files_.out[c].write(begin * widths_[c], sorted);
          });
      from = to;
    }
  }

 private:
  /// Fills each column with n elements, sorts them, and passes each sorted column to `take`.
  template <class Fill, class Take>
  void sort(std::uint64_t n, const Fill& fill, const Take& take) {
    std::deque<bytes> in;
    std::vector<const bytes*> inputs;
    for (std::size_t c = 0; c < widths_.size(); ++c) {
      fill(c, in.emplace_back(n * widths_[c]));
      inputs.push_back(&in.back());
    }
    run_.outputs.clear();
    run_planned(impl::sort::part_of(p_, n), inputs, options_, run_);
    for (std::size_t c = 0; c < widths_.size(); ++c) take(c, run_.outputs[c]);
    run_.outputs.clear();
  }

  void read(std::size_t column, std::uint64_t begin, bytes& into) {
    if (column < files_.in.size()) return files_.in[column]->read(begin * widths_[column], into);
    auto* const indices = reinterpret_cast<std::uint32_t*>(into.data());
    std::iota(indices, indices + into.size() / sizeof *indices, static_cast<std::uint32_t>(begin));
  }

  /// Reads the piece of every run, in the order of the runs, so that equal keys stay in order.
  void gather(std::size_t column, std::span<const std::uint64_t> from, std::span<const std::uint64_t> to, bytes& into) {
    const std::uint64_t width = widths_[column];
    std::span<std::byte> room = into;
    for (std::uint64_t k = 0; k < lengths_.size(); ++k) {
      const std::uint64_t length = (to[k] - from[k]) * width;
      scratch_[column].read((k * length_ + from[k]) * width, room.first(length));
      room = room.subspan(length);
    }
  }

  template <class T>
  std::vector<std::uint64_t> cuts_at(std::uint64_t rank) const {
    using bits = impl::sort::key_bits<T>;
    const auto code = impl::sort::code_of<T>(impl::sort::is_descending(p_));
    return impl::sort::split_runs<bits>(lengths_, rank, [&](std::uint64_t k, std::uint64_t i) {
      bits key;
      scratch_[0].read((k * length_ + i) * sizeof key, std::as_writable_bytes(std::span(&key, 1)));
      return code.encode(key);
    });
  }

  const registry::problem& p_;
  const std::uint64_t length_;
  sort_files& files_;
  const common_options& options_;
  data_run& run_;
  std::vector<std::uint64_t> widths_, lengths_;  // element size of each column; length of each run
  std::deque<io::scratch_file> scratch_;         // the runs, by column
};

/// Host memory that a sort on the CPU takes, including the arrays that it reads.
std::uint64_t memory_of_sort(const registry::problem& p) {
  const std::uint64_t offsets = p.shape.rank > 1 ? (p.shape[1] + 1) * sizeof(std::int64_t) : 0;
  return copies * p.n() * element_bytes(p) + offsets;
}

/// How many elements to sort at once. All runs have this length, and any of them fits in memory. Throws `out_of_memory`
/// if too few elements fit.
std::uint64_t run_length_for(const registry::problem& p, std::uint64_t available) {
  // One more copy, since the queue still keeps the longer runs' workspace when the last run comes.
  const std::uint64_t each = (copies + 1) * element_bytes(p);
  const std::uint64_t longest = (available - std::min(available, reserve)) / 8 * 7 / each;
  if (longest < shortest_run)
    throw error(errc::out_of_memory, "a sort in runs needs at least " +
                                         std::to_string(reserve + shortest_run * each / 7 * 8) +
                                         " bytes of memory, but " + std::to_string(available) + " are left");
  return ceil_div(p.n(), ceil_div(p.n(), longest));
}

/// Sorts in runs of this length, with the run's device and choice. The scratch files in `folder` are as large as the
/// outputs. Adds what is written to `digests`, unless it is empty.
void sort_in_runs(const registry::problem& p, std::uint64_t run_length, const std::string& folder, sort_files& files,
                  const common_options& options, data_run& run, std::span<lab::digest> digests) {
  const clock::time_point start = clock::now();
  run_sort sorting(p, run_length, folder, files, options, run);
  sorting.make_runs();
  with_type(p.type, [&]<class T>(T) { sorting.make_output<T>(digests); });
  run.how.reason = "in " + std::to_string(ceil_div(p.n(), run_length)) + " runs kept in " + base::printable(folder) +
                   "; " + run.how.reason;
  run.in_pieces = true;
  run.times.end_to_end = ns_since(start);
}

void refuse_half_a_pair(const sort_request& request) {
  if (!request.values.empty() && !request.indices.empty())
    throw error(errc::invalid_argument,
                "--values and --indices exclude each other: either values move with their keys, or the keys' indices "
                "are written; with the indices any values can be moved later");
  if (request.values.empty() != request.values_out.empty())
    throw error(errc::invalid_argument, "--values V.npy and --values-out W.npy belong together; give both or none");
}

array_file open_segments(const sort_request& request) {
  array_file offsets = open_offsets(request.segments, request.input, request.output);
  for (const std::string& other : {request.values_out, request.indices}) refuse_overwriting(request.segments, other);
  require_distinct_streams(request.values, request.segments);
  return offsets;
}

/// The second output, if any: values that move with the keys, or indices.
struct companion {
  const char* field;
  std::string path;
  dtype type;
};

void open_values(const sort_request& request, const io::array_input& keys, std::optional<io::array_input>& values) {
  values.emplace(request.values);
  if (values->shape() != keys.shape())
    throw error(errc::invalid_argument, sentence(request.input, keys.shape()) + " and " +
                                            sentence(request.values, values->shape()) +
                                            "; there must be one value for each key");
}

std::optional<companion> companion_of(const sort_request& request, const std::optional<io::array_input>& values) {
  if (values) return companion{"values_digest", request.values_out, values->type()};
  if (!request.indices.empty()) return companion{"indices_digest", request.indices, dtype::u32};
  return std::nullopt;
}

std::string_view payload_word(const std::optional<io::array_input>& values, const std::optional<companion>& second) {
  if (values) return size_of(values->type()) == 8 ? "values64" : "values32";
  return second ? "indices" : "none";
}

registry::problem problem_of(const sort_request& request, const io::array_input& keys,
                             const std::optional<io::array_input>& values, const std::optional<companion>& second) {
  registry::problem p{
      .what = &registry::find_algorithm("sort"), .type = keys.type(), .shape = {keys.bytes() / size_of(keys.type())}};
  registry::choose_setting(p, "order", request.descending ? "descending" : "ascending");
  registry::choose_setting(p, "payload", payload_word(values, second));
  return p;
}

/// X.npy and V.npy may each be replaced by its own result, but not by the other's.
void refuse_lost_files(const sort_request& request) {
  const std::array outputs{request.output, request.values_out, request.indices};
  require_distinct_outputs(outputs);
  for (const std::string& second : {request.values_out, request.indices}) refuse_overwriting(request.input, second);
  refuse_overwriting(request.values, request.output);
  require_distinct_streams(request.input, request.values);
  for (const std::string& output : outputs) require_free_output(output, request.common.json);
}

/// Sorts everything at once.
void sort_in_memory(const registry::problem& p, sort_files& files, const common_options& options, data_run& run,
                    std::span<lab::digest> digests) {
  run_from_files(p, files.in, options, run);
  for (std::size_t i = 0; i < digests.size(); ++i) digests[i].add(run.outputs[i]);
  for (std::size_t i = 0; i < files.out.size(); ++i) files.out[i].write(0, run.outputs[i]);
}

void require_memory_of_sort(const registry::problem& p, std::uint64_t available) {
  const std::uint64_t need = memory_of_sort(p);
  if (need <= available) return;
  const bool has_segments = p.shape.rank > 1;
  throw error(errc::out_of_memory, registry::to_string(p) + " takes " + std::to_string(need) +
                                       " bytes of memory, but " + std::to_string(available) + " are left" +
                                       (has_segments ? "; sort some of the segments at a time"
                                                     : "; --scratch DIR sorts it in runs that are kept in a folder"));
}

exit_code sort_along(const sort_request& request, io::array_input& keys) {
  registry::problem p = problem_along(*request.axis, "sort_axis", request.input, keys.type(), keys.shape());
  registry::choose_setting(p, "order", request.descending ? "descending" : "ascending");
  const std::uint64_t need = copies * keys.bytes();
  io::require_host_memory(need, registry::to_string(p) + " takes " + std::to_string(need) + " bytes of memory");
  return run_to_file(p, std::array{&keys}, request.common, plan_run(p, request.common), request.output, keys.shape());
}

exit_code sort_file(const sort_request& request) {
  refuse_half_a_pair(request);
  refuse_lost_files(request);
  io::array_input keys(request.input, raw_elements_of(request.raw));
  if (request.axis) return sort_along(request, keys);
  require_dimensions(request.input, keys.shape(), 1,
                     std::string("sort takes one dimension") +
                         (is_flat(keys.shape()) ? "" : ", or --axis -1 for each row by itself") +
                         "; NumPy's x.ravel() puts all elements in one row");
  std::optional<io::array_input> values;
  if (!request.values.empty()) open_values(request, keys, values);
  const std::optional<companion> second = companion_of(request, values);
  registry::problem p = problem_of(request, keys, values, second);
  std::optional<array_file> offsets;
  if (!request.segments.empty()) {
    offsets = open_segments(request);
    p.what = &registry::find_algorithm("segment_sort");
    p.shape = {p.n(), offsets->shape()[0] - 1};
  }
  data_run run = plan_run(p, request.common);
  const std::uint64_t available = io::available_host_memory();  // after the device has started its threads
  const bool in_runs = !request.scratch.empty() && memory_of_sort(p) > available;
  if (!in_runs && run.device->info().backend == "cpu") require_memory_of_sort(p, available);
  sort_files files;
  files.in.push_back(&keys);
  if (values) files.in.push_back(&*values);
  if (offsets) files.in.push_back(offsets->input.get());
  files.out.emplace_back(request.output, p.type, keys.shape());
  if (second) files.out.emplace_back(second->path, second->type, keys.shape());
  std::vector<lab::digest> digests(request.common.json ? files.out.size() : 0);
  if (in_runs)
    sort_in_runs(p, run_length_for(p, available), request.scratch, files, request.common, run, digests);
  else
    sort_in_memory(p, files, request.common, run, digests);
  tell(run, request.common);
  for (io::array_output& file : files.out) file.commit();
  if (!request.common.json) return exit_code::ok;
  nlohmann::ordered_json fields = describe(p, run, keys.shape(), digests[0].text());
  if (second) fields[second->field] = digests[1].text();
  print_fields(std::move(fields), request.output);
  return exit_code::ok;
}

}  // namespace

void add_sort(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("sort", "a stable sort of an array, with values or indices");
  auto request = std::make_shared<sort_request>();
  add_input_array(*command, "X.npy", request->input, "the keys: f4 f8 i4 i8 u4 u8");
  add_array_option(*command, "-o,--output", request->output, "where the sorted keys go; required; may be X.npy",
                   "Y.npy")
      ->required();
  command->add_flag("--descending", request->descending, "largest first; equal keys keep their order");
  add_array_option(*command, "--values", request->values, "values to move with the keys; any of these types", "V.npy")
      ->check(readable_by_ranks());
  add_array_option(*command, "--values-out", request->values_out, "where the values go; may be V.npy", "W.npy");
  add_array_option(*command, "--indices", request->indices, "where each key was in X, as u4", "I.npy");
  add_file_option(*command, "--scratch", request->scratch, "a folder for runs of arrays larger than memory", "DIR")
      ->check(CLI::ExistingDirectory);
  add_axis_option(*command, request->axis, "each line along it by itself: 0 first, -1 last");
  add_segments_option(*command, request->segments, "each by itself: x[offsets[s]:offsets[s + 1]]")
      ->excludes(command->get_option("--scratch"));
  for (const char* other : {"--values", "--values-out", "--indices", "--scratch"})
    command->get_option("--axis")->excludes(command->get_option(other));
  add_raw_options(*command, request->raw);
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "--axis names the first or last axis: of a matrix, 0 sorts each column, 1 each\n"
      "row. Without it the array has one dimension: np.ravel flattens any. --segments\n"
      "names pieces that are sorted each by itself, as the indptr of a CSR matrix does;\n"
      "their indices count from the piece's begin.\n"
      "The files are those of np.sort and np.argsort with kind=\"stable\", except that\n"
      "-0.0 comes before +0.0 and NaNs are ordered too, after all else (first if\n"
      "descending). \"-\" is standard input or output, for .npy too. It takes three\n"
      "times the memory of the keys, and as much again for values. Where there is less,\n"
      "--scratch DIR keeps sorted runs there, in as much room as the outputs take; they\n"
      "have no name and are gone with the tool, however it ends. Segments are not\n"
      "sorted in runs: sort some of them at a time.\n"
      "\n"
      "Examples:\n"
      "  tilewise sort x.npy -o y.npy\n"
      "  tilewise sort table.npy -o y.npy --axis 0\n"
      "  tilewise sort x.npy -o y.npy --descending --indices i.npy --device opencl:0\n"
      "  tilewise sort keys.npy -o k.npy --values names.npy --values-out n.npy\n"
      "  tilewise sort x.npy -o y.npy --segments indptr.npy\n"
      "  tilewise sort huge.npy -o y.npy --scratch /mnt/disk");
  command->callback([&call, request] { call.run = [request] { return sort_file(*request); }; });
}

}  // namespace tilewise::cli
