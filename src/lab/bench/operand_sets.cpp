// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/operand_sets.hpp"

#include "io/host_memory.hpp"

namespace tilewise::lab {

std::uint64_t operand_bytes(const registry::problem& p) {
  std::uint64_t bytes = p.what->inputs(p).front().bytes();
  for (const auto& o : p.what->inputs(p)) bytes += o.bytes();
  for (const auto& o : p.what->outputs(p)) bytes += o.bytes();
  return bytes;
}

operand_sets::operand_sets(const verified_case& inputs, backend::queue& queue, unsigned count) : case_(inputs) {
  for (unsigned s = 0; s < count; ++s)
    sets_.emplace_back(inputs.problem, queue).upload(call::pointers_to(inputs.inputs));
  const std::uint64_t bytes = inputs.inputs.front().size();
  if (inputs.expected.front().size() < bytes) own_target_.emplace(queue, bytes);
  const backend::memory target = own_target_ ? *own_target_ : sets_.front().where().out[0];
  for (const call::operands& s : sets_)
    copied_.push_back({.in = {s.where().in[0].at(0, bytes)}, .out = {target.at(0, bytes)}});
  poison_outputs();
}

call::host_operands operand_sets::download_outputs() const {
  call::host_operands outputs;
  for (const auto& expected : case_.expected) outputs.emplace_back(expected.size());
  sets_.front().download(call::pointers_to(outputs));
  return outputs;
}

std::uint64_t flush_bytes(const device_info& info) {
  constexpr std::uint64_t unknown_cache = std::uint64_t{64} << 20;
  return 2 * (info.cache != 0 ? info.cache : unknown_cache);
}

cache_flusher::cache_flusher(backend::queue& queue)
    : queue_(queue), bytes_(flush_bytes(queue.device().info())), from_(queue, bytes_), to_(queue, bytes_) {
  const std::vector<std::byte> pages(bytes_, std::byte{1});  // untouched pages would all map to one page of zeros
  queue_.upload(from_, pages.data(), bytes_);
}

void cache_flusher::flush() {
  queue_.copy(to_, from_, bytes_);
  queue_.finish();
}

namespace {

/// The number of times that the group's operands are in the host's memory: once for each device that uses it.
std::uint64_t copies_on_host(const group& what) {
  std::uint64_t copies = 0;
  for (std::size_t i = 0; i < what.rows.size(); ++i)
    copies += what.rows[i].on->info().is_cpu && (i == 0 || !share_memory(what.rows[i - 1], what.rows[i]));
  return copies;
}

}  // namespace

std::string memory_shortage(const group& what, const measuring& how) {
  const device_info& info = what.rows.back().on->info();
  const std::uint64_t copies = is_whole_job(how.what) ? info.is_cpu : copies_on_host(what);
  const std::uint64_t once = operand_bytes(what.problem);
  std::uint64_t on_device = once;
  if (how.what == mode::cold) on_device = on_device * cold_sets + 2 * flush_bytes(info);
  // Host memory holds the inputs, the expected results, and the poison or one row's results. A job also has its files,
  // and makes copies of them.
  const std::uint64_t of_job = is_whole_job(how.what) ? 2 * once : 0;
  const std::uint64_t on_host = 2 * once + of_job + copies * on_device;
  const auto shortage = [](const std::string& where, std::uint64_t need, std::uint64_t free) {
    return need <= free - free / 10 ? std::string()
                                    : where + " would need " + std::to_string(need >> 20) + " MiB and has " +
                                          std::to_string(free >> 20) + " MiB free, a tenth of which is left unused";
  };
  if (std::string reason = shortage("the host", on_host, io::available_host_memory()); !reason.empty()) return reason;
  return info.is_cpu || info.memory == 0 || is_whole_job(how.what) ? "" : shortage(info.name, on_device, info.memory);
}

}  // namespace tilewise::lab
