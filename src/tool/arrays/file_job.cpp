// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/file_job.hpp"

#include "tool/arrays/file.hpp"
#include "tool/arrays/stream.hpp"

#include <deque>

namespace tilewise::cli {

namespace {

/// Whether the command would go chunk by chunk, as it does if the user names nothing but the device.
bool goes_in_chunks(const registry::problem& p, const lab::row& by, const io::array_input& x, const data_run& run) {
  const bool is_fold = p.what->name == "reduce" || p.what->name == "scan";
  return is_fold && by.is_default_tuning() && registry::choose(p, *by.on).variant == by.variant &&
         may_stream(x, run, {});
}

std::vector<std::byte> bytes_of(const base::scalar_value& value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value.bits);
  return {begin, begin + size_of(value.type)};
}

record::phases phases_of(const data_run& run, bool is_written) {
  const run_times& times = run.times;
  record::phases spent;
  spent.read = times.read;
  if (is_written) spent.write = times.write;
  spent.kernel = times.kernel;
  if (times.h2d > 0) spent.upload = times.h2d;
  if (times.d2h > 0) spent.download = times.d2h;  // a value computed in pieces comes back with them
  return spent;
}

lab::file_outcome run_in_chunks(const registry::problem& p, const lab::job_files& files, io::array_input& x,
                                data_run& run) {
  if (files.out.empty()) {
    const base::scalar_value value = reduce_in_chunks(p, x, run);
    return {{bytes_of(value)}, phases_of(run, false)};
  }
  io::array_output y(files.out.front(), p.type, x.shape());
  scan_in_chunks(p, x, y, run, nullptr);
  const clock::time_point start = clock::now();
  y.commit();
  run.times.write += ns_since(start);
  return {{}, phases_of(run, true)};
}

lab::file_outcome run_whole(const registry::problem& p, const lab::job_files& files, data_run& run) {
  clock::time_point start = clock::now();
  std::deque<io::npy_array> arrays;
  std::vector<const bytes*> inputs;
  for (const std::string& path : files.in) inputs.push_back(&arrays.emplace_back(io::read_npy(path)).data);
  run.times.read = ns_since(start);
  start = clock::now();
  std::deque<io::array_output> written;
  const std::vector<registry::operand> out = p.what->outputs(p);
  for (std::size_t o = 0; o < files.out.size(); ++o)
    written.emplace_back(files.out[o], out[o].type, std::span(&out[o].count, 1));
  const double reserved = ns_since(start);
  common_options timed;
  timed.json = true;
  run_planned(p, inputs, timed, run);
  start = clock::now();
  for (std::size_t o = 0; o < written.size(); ++o) written[o].write(0, run.outputs[o]), written[o].commit();
  run.times.write = reserved + ns_since(start);
  lab::file_outcome done{{}, phases_of(run, !written.empty())};
  if (written.empty())
    for (const bytes& output : run.outputs) done.printed.emplace_back(output.begin(), output.end());
  return done;
}

}  // namespace

lab::file_outcome run_file_job(const registry::problem& p, const lab::row& by, const lab::job_files& files) {
  data_run run{.device = by.on, .how = {by.variant, by.tuning, ""}, .outputs = {}, .times = {}};
  io::array_input x(files.in.front());
  return goes_in_chunks(p, by, x, run) ? run_in_chunks(p, files, x, run) : run_whole(p, files, run);
}

}  // namespace tilewise::cli
