// SPDX-License-Identifier: Apache-2.0
#include "lab/jobs/job.hpp"

#include "backend/cpu/device.hpp"
#include "backend/transfer_team.hpp"
#include "base/ceil_div.hpp"
#include "io/array_input.hpp"
#include "io/array_output.hpp"
#include "lab/bench/peer_call.hpp"
#include "lab/time/clock.hpp"

#include <algorithm>
#include <deque>
#include <optional>

namespace tilewise::lab {

namespace {

double ns_since(std::int64_t started) { return static_cast<double>(now_ns() - started); }

constexpr plain_copies copies_of_queue{
    [](backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes) { on.upload(to, from, bytes); },
    [](backend::queue& on, void* to, backend::memory from, std::uint64_t bytes) { on.download(to, from, bytes); }};

plain_copies copies_for(const plain_copies_of& all, const std::string& backend) {
  const auto found = all.find(backend);
  return found == all.end() ? copies_of_queue : found->second;
}

/// Files are read and written in parts of this size, each by one thread.
constexpr std::uint64_t part_of_one_thread = 512 << 10;

template <class Move>
void in_parts(std::uint64_t bytes, const Move& move) {
  for (std::uint64_t begin = 0; begin < bytes; begin += part_of_one_thread)
    move(begin, std::min(part_of_one_thread, bytes - begin));
}

io::host_block read_on_one_thread(const std::string& path) {
  io::array_input file(path);
  io::host_block all(file.bytes());
  in_parts(all.size(),
           [&](std::uint64_t begin, std::uint64_t n) { file.read(begin, std::span(all).subspan(begin, n)); });
  return all;
}

void write_on_one_thread(const std::string& path, const registry::operand& what, const io::host_block& all) {
  const std::uint64_t shape[] = {what.count};
  io::array_output file(path, what.type, shape);
  in_parts(all.size(),
           [&](std::uint64_t begin, std::uint64_t n) { file.write(begin, std::span(all).subspan(begin, n)); });
  file.commit();
}

}  // namespace

plain_job::plain_job(const registry::problem& p, const row& of, const plain_copies_of& copies)
    : problem_(p), row_(of), copies_(copies_for(copies, of.on->info().backend)) {}

void plain_job::compute(std::span<const void* const> inputs, std::span<void* const> outputs,
                        record::phases& spent) const {
  backend::queue& queue = row_.on->queue();
  const auto run = [&](const call::operands& operands) {
    const std::int64_t started = now_ns();
    run_variant(row_, problem_, operands.where());
    queue.finish();
    spent.kernel = ns_since(started);
  };
  if (row_.on->info().backend == "cpu") return run(call::operands(problem_, queue, inputs, outputs));
  const call::operands there(problem_, queue);
  const auto in = problem_.what->inputs(problem_), out = problem_.what->outputs(problem_);
  std::int64_t started = now_ns();
  for (std::size_t i = 0; i < in.size(); ++i) copies_.upload(queue, there.where().in[i], inputs[i], in[i].bytes());
  spent.upload = ns_since(started);
  run(there);
  started = now_ns();
  for (std::size_t o = 0; o < out.size(); ++o)
    copies_.download(queue, outputs[o], there.where().out[o], out[o].bytes());
  spent.download = ns_since(started);
}

void plain_job::on_host(std::span<const void* const> inputs, std::span<void* const> outputs) const {
  record::phases unused;
  compute(inputs, outputs, unused);
}

record::phases plain_job::on_files(const job_files& files, call::host_operands& printed) const {
  record::phases spent;
  const auto out = problem_.what->outputs(problem_);
  std::deque<io::host_block> operands;
  std::vector<const void*> from;
  std::vector<void*> to;
  std::int64_t started = now_ns();
  for (const std::string& path : files.in) from.push_back(operands.emplace_back(read_on_one_thread(path)).data());
  spent.read = ns_since(started);
  for (std::size_t o = 0; o < out.size(); ++o)
    to.push_back(files.out.empty() ? static_cast<void*>(printed[o].data())
                                   : operands.emplace_back(out[o].bytes()).data());
  compute(from, to, spent);
  if (files.out.empty()) return spent;
  started = now_ns();
  for (std::size_t o = 0; o < out.size(); ++o) write_on_one_thread(files.out[o], out[o], operands[files.in.size() + o]);
  spent.write = ns_since(started);
  return spent;
}

void move_files(const registry::problem& p, const job_files& files, backend::queue& team) {
  auto& threads = static_cast<backend::cpu::queue&>(team);
  std::vector<io::host_block> rooms(threads.threads());
  const auto out = p.what->outputs(p);
  for (std::size_t i = 0; i < std::max(files.in.size(), files.out.size()); ++i) {
    std::optional<io::array_input> x;
    std::optional<io::array_output> y;
    if (i < files.in.size()) x.emplace(files.in[i]);
    if (i < files.out.size()) y.emplace(files.out[i], out[i].type, std::span(&out[i].count, 1));
    const std::uint64_t read = x ? x->bytes() : 0, written = y ? out[i].bytes() : 0;
    threads.for_each_tile(ceil_div(std::max(read, written), part_of_one_thread),
                          [&](std::uint64_t number, unsigned worker) {
                            if (rooms[worker].size() == 0) {
                              rooms[worker] = io::host_block(part_of_one_thread);
                              std::fill(rooms[worker].begin(), rooms[worker].end(), std::byte{1});
                            }
                            const std::uint64_t begin = number * part_of_one_thread;
                            const auto room = [&](std::uint64_t all) {
                              return std::span(rooms[worker].data(), std::min(part_of_one_thread, all - begin));
                            };
                            if (begin < read) x->read(begin, room(read));
                            if (begin < written) y->write(begin, room(written));
                          });
    if (y) y->commit();
  }
}

void move_operands(const registry::problem& p, backend::queue& queue, std::span<const void* const> inputs,
                   std::span<void* const> outputs) {
  const call::operands there(p, queue);
  backend::transfer_team* const team = queue.transfers();
  if (team == nullptr) {
    there.upload(inputs);
    return there.download(outputs);
  }
  queue.finish();
  const auto in = p.what->inputs(p), out = p.what->outputs(p);
  std::deque<backend::transfer> moving;
  for (std::size_t i = 0; i < in.size(); ++i)
    moving.push_back(team->send(there.where().in[i], inputs[i], in[i].bytes()));
  for (std::size_t o = 0; o < out.size(); ++o)
    moving.push_back(team->fetch(outputs[o], there.where().out[o], out[o].bytes()));
  for (backend::transfer& one : moving) one.wait();
}

}  // namespace tilewise::lab
