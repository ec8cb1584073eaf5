// SPDX-License-Identifier: Apache-2.0
#include "tool/ranks/files.hpp"

#include "backend/group/device.hpp"
#include "backend/group/mpi_world.hpp"
#include "base/printable.hpp"
#include "call/execute.hpp"

namespace tilewise::cli {

namespace {

using backend::group::byte_range;
using backend::group::rank;

/// All ranks must call it: returns the first rank's text.
std::string told_by_first(backend::group::queue& queue, const std::string& text) {
  constexpr std::size_t longest = 4096;  // of a path
  std::array<char, longest> line{};
  text.copy(line.data(), longest - 1);
  std::string told;
  queue.on_each_rank([&](const rank& r) { told = r.all_gather(line).front().data(); });
  return told;
}

/// All ranks must call it: waits until all have done so.
void wait_for_all(backend::group::queue& queue) { static_cast<void>(told_by_first(queue, "")); }

/// Reads a range of elements into a rank's memory.
void read_part(io::array_input& from, byte_range part, const backend::memory& to, const rank& r) {
  if (part.bytes() == 0) return;
  if (!from.is_c_order()) {
    const io::npy_array all = from.read_all();
    return r.queue().upload(to, all.data.data() + part.begin, part.bytes());
  }
  if (r.device().info().backend == "cpu")
    return from.read(part.begin, {to.as<std::byte>(), static_cast<std::size_t>(part.bytes())});
  bytes block(part.bytes());
  from.read(part.begin, block);
  r.queue().upload(to, block.data(), part.bytes());
}

void write_part(io::array_output& to, byte_range part, const backend::memory& from, const rank& r) {
  if (part.bytes() == 0) return;
  if (r.device().info().backend == "cpu")
    return to.write(part.begin, {from.as<const std::byte>(), static_cast<std::size_t>(part.bytes())});
  bytes block(part.bytes());
  r.queue().download(block.data(), from, part.bytes());
  to.write(part.begin, block);
}

void refuse_streams(std::span<io::array_input* const> inputs) {
  for (const io::array_input* input : inputs)
    if (input->is_pipe())
      throw error(errc::invalid_argument, "standard input reaches only the first rank; name a file that all can read");
}

/// The name that tables and records use: "mpi:cpu" for "4*mpi:cpu" if there are four ranks.
std::string of_as_many(const std::string& name, std::size_t star) {
  const std::string wanted = name.substr(0, star);
  const unsigned here = backend::group::is_mpi_process() ? backend::group::mpi().size() : 0;
  if (wanted == std::to_string(here)) return name.substr(star + 1);
  throw error(errc::invalid_argument,
              "--device " + base::printable(name) + " names processes that mpirun starts; " +
                  (here == 0 ? "it has started none" : "it has started " + std::to_string(here)));
}

}  // namespace

std::string name_for_ranks(const std::string& name) {
  if (const std::size_t sized = name.find("*mpi"); sized != name.npos) return of_as_many(name, sized);
  if (!backend::group::is_mpi_process() || name.starts_with("mpi")) return name;
  if (backend::group::is_group(name))
    throw error(errc::invalid_argument, "--device " + base::printable(name) +
                                            " is a group of its own; under mpirun name what each rank computes on");
  return name == "auto" || name == "all" ? "mpi" : "mpi:" + name;
}

bool is_in_processes(const data_run& run) {
  if (run.device->info().backend != "group") return false;  // first, since queue() opens the device
  const backend::group::queue* const ranks = backend::group::over_processes(run.device->queue());
  return ranks != nullptr && ranks->ranks() > 1;
}

std::string way_between_gpus(const data_run& run) {
  if (!is_in_processes(run)) return "";
  const std::string way = backend::group::enter(run.device->queue()).way_between_gpus();
  return way.empty() ? "" : "; the ranks exchanged " + way;
}

shared_output::shared_output(data_run& run, const std::string& path, dtype type, std::span<const std::uint64_t> shape)
    : run_(run) {
  if (path == io::standard_stream)
    throw error(errc::invalid_argument, "ranks write their parts of a file; name one instead of standard output");
  auto& queue = backend::group::enter(run.device->queue());
  if (queue.first_rank() == 0) file_.emplace(path, type, shape);
  const std::string temporary = told_by_first(queue, file_ ? file_->temporary() : "");
  if (!file_) file_.emplace(path, type, shape, temporary);
}

void shared_output::commit() {
  auto& queue = backend::group::enter(run_.device->queue());
  const bool names_it = queue.first_rank() == 0;
  if (!names_it) file_->commit();
  wait_for_all(queue);  // all ranks have written
  if (names_it) file_->commit();
  wait_for_all(queue);  // the file has its name, and no rank ends before this
}

void run_in_processes(const registry::problem& p, std::span<io::array_input* const> inputs,
                      std::span<io::array_output* const> outputs, data_run& run) {
  refuse_streams(inputs);
  auto& queue = backend::group::enter(run.device->queue());
  const auto whole = clock::now();
  const call::operands all(p, queue);
  const auto& where = all.where();
  queue.on_each_rank([&](const rank& r) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const byte_range mine = r.part(where.in[i]);
      read_part(*inputs[i], mine, local(where.in[i], r.index(), mine), r);
    }
  });
  run.times.h2d = ns_since(whole);
  const auto start = clock::now();
  call::run_in_place(p, run.how, queue, where);
  queue.finish();
  run.times.kernel = run.times.first_call = ns_since(start);
  const auto after = clock::now();
  queue.on_each_rank([&](const rank& r) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const byte_range mine = r.part(where.out[o]);
      write_part(*outputs[o], mine, local(where.out[o], r.index(), mine), r);
    }
  });
  const auto results = p.what->outputs(p);
  for (std::size_t o = outputs.size(); o < results.size(); ++o)
    queue.download(run.outputs.emplace_back(results[o].bytes()).data(), where.out[o], results[o].bytes());
  run.times.d2h = ns_since(after);
  run.times.end_to_end = ns_since(whole);
}

}  // namespace tilewise::cli
