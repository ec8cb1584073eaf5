#include "lab/transfers.hpp"

#include "lab/clock.hpp"

namespace tilewise::lab {

namespace {

template <class F>
double timed(std::uint64_t calls, F&& f) {
  const std::int64_t started = now_ns();
  for (std::uint64_t i = 0; i < calls; ++i) f();
  return static_cast<double>(now_ns() - started);
}

/// Transfers are told beside the kernel's time and vary more; a fifth of the kernel's time is spent on each.
stop_rule shorter(stop_rule rule) {
  rule.min_ns /= 5;
  rule.max_ns /= 5;
  return rule;
}

struct host_side {
  const verified_case& inputs;
  std::vector<std::vector<std::byte>> outputs;

  void upload(const registry::memories& to, backend::queue& queue) const {
    for (std::size_t i = 0; i < inputs.inputs.size(); ++i)
      if (!inputs.inputs[i].empty()) queue.upload(to.in[i], inputs.inputs[i].data(), inputs.inputs[i].size());
  }
  void download(const registry::memories& from, backend::queue& queue) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i].empty()) queue.download(outputs[i].data(), from.out[i], outputs[i].size());
  }
};

void end_to_end(const group& what, const row& r, host_side& host, backend::queue& queue) {
  std::deque<backend::buffer> own;
  registry::memories where;
  for (std::size_t i = 0; i < host.inputs.inputs.size(); ++i)
    where.in[i] = own.emplace_back(queue, host.inputs.inputs[i].size());
  for (std::size_t i = 0; i < host.outputs.size(); ++i) where.out[i] = own.emplace_back(queue, host.outputs[i].size());
  host.upload(where, queue);
  r.variant->run(what.problem, where, r.tuning, queue);
  host.download(where, queue);
}

/// A slot of the records that a contender's samples go to.
struct destination {
  std::vector<std::size_t> records;
  std::optional<series> timings::*clock;
};

}  // namespace

void measure_transfers(const group& what, const verified_case& inputs, operands& memory, const measuring& how,
                       std::vector<record>& records) {
  backend::queue& queue = what.rows.front().on->queue();
  if (queue.device().info().backend == "cpu") return;
  host_side host{inputs, inputs.expected};
  const registry::memories& where = memory.set(0);
  std::vector<contender> contenders;
  std::vector<destination> destinations;
  std::vector<std::size_t> timed_rows;
  for (std::size_t i = 0; i < what.rows.size(); ++i)
    if (records[i].state == status::ok && what.rows[i].variant != nullptr) timed_rows.push_back(i);

  contenders.push_back(
      {"h2d", [&](std::uint64_t calls) { return timed(calls, [&] { host.upload(where, queue), queue.finish(); }); }});
  destinations.push_back({timed_rows, &timings::h2d});
  contenders.push_back(
      {"d2h", [&](std::uint64_t calls) { return timed(calls, [&] { host.download(where, queue); }); }});
  destinations.push_back({timed_rows, &timings::d2h});
  for (const std::size_t i : timed_rows) {
    const row& r = what.rows[i];
    contenders.push_back({r.id() + " round trip", [&](std::uint64_t calls) {
                            return timed(calls, [&] {
                              host.upload(where, queue);
                              r.variant->run(what.problem, where, r.tuning, queue);
                              host.download(where, queue);
                            });
                          }});
    destinations.push_back({{i}, &timings::round_trip});
    contenders.push_back({r.id() + " end to end", [&](std::uint64_t calls) {
                            return timed(calls, [&] { end_to_end(what, r, host, queue); });
                          }});
    destinations.push_back({{i}, &timings::end_to_end});
  }

  const std::vector<series> taken = measure_in_rounds(contenders, shorter(how.rule), how.hooks);
  for (std::size_t c = 0; c < taken.size(); ++c)
    for (const std::size_t i : destinations[c].records)
      if (!taken[c].ns.empty()) records[i].time.*destinations[c].clock = taken[c];
}

}  // namespace tilewise::lab
