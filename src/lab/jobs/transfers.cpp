// SPDX-License-Identifier: Apache-2.0
#include "lab/jobs/transfers.hpp"

#include "lab/bench/agreement.hpp"
#include "lab/bench/peer_call.hpp"
#include "lab/plan/pace.hpp"
#include "lab/plan/visits.hpp"
#include "lab/time/clock.hpp"
#include "registry/execute.hpp"

namespace tilewise::lab {

namespace {

template <class F>
double timed(std::uint64_t calls, F&& f) {
  const std::int64_t started = now_ns();
  for (std::uint64_t i = 0; i < calls; ++i) f();
  return as_first_rank(static_cast<double>(now_ns() - started));
}

/// Transfers are shown beside the kernel's time and vary more; each gets a fifth of the measuring time that a kernel
/// has at all its visits.
stop_rule shorter(stop_rule rule) {
  rule.min_ns *= visits_of_each / 5.0;
  rule.max_ns *= visits_of_each / 5.0;
  return rule;
}

/// Where transfers begin and end.
struct host_side {
  std::vector<const void*> inputs;
  registry::host_operands outputs;
  std::vector<void*> to;

  explicit host_side(const verified_case& c)
      : inputs(registry::pointers_to(c.inputs)), outputs(c.expected), to(registry::pointers_to(outputs)) {}
};

/// As a call on host memory does it: in pieces, where that is quicker.
void end_to_end(const group& what, const row& r, const host_side& host, backend::queue& queue) {
  registry::run_on_host(what.problem, {r.variant, r.tuning, ""}, queue, host.inputs, host.to);
}

/// Four more calls, with transfers, of what one call of takes as long as all its samples may.
bool is_too_slow(const group& what, std::size_t i, const measured& m, const measuring& how) {
  return m.time() != nullptr && *m.time()->median_ns > visits_of_each * how.rule.max_ns &&
         !is_of_document(what, what.rows[i]);
}

/// Where a contender's samples go.
struct destination {
  std::vector<std::size_t> rows;
  std::optional<record::clock> record::timing::*clock;
};

}  // namespace

void measure_transfers(const group& what, const verified_case& inputs, operand_sets& memory, const measuring& how,
                       std::span<measured> rows) {
  backend::queue& queue = what.rows.front().on->queue();
  if (queue.device().info().backend == "cpu") return;
  const auto told = [&how](std::optional<std::size_t> row) { return [&how, row] { how.on_row(row); }; };
  const host_side host(inputs);
  const registry::operands& staged = memory.operands(0);
  std::vector<contender> contenders;
  std::vector<destination> destinations;
  std::vector<std::size_t> timed_rows;
  for (std::size_t i = 0; i < what.rows.size(); ++i)
    if (rows[i].is_ok() && rows[i].result.verify && !is_too_slow(what, i, rows[i], how)) timed_rows.push_back(i);

  contenders.push_back(
      {"h2d", [&](std::uint64_t calls) { return timed(calls, [&] { staged.upload(host.inputs), queue.finish(); }); },
       told({})});
  destinations.push_back({timed_rows, &record::timing::h2d});
  contenders.push_back(
      {"d2h", [&](std::uint64_t calls) { return timed(calls, [&] { staged.download(host.to); }); }, told({})});
  destinations.push_back({timed_rows, &record::timing::d2h});
  for (const std::size_t i : timed_rows) {
    const row& r = what.rows[i];
    contenders.push_back({r.id() + " round trip",
                          [&](std::uint64_t calls) {
                            return timed(calls, [&] {
                              staged.upload(host.inputs);
                              run_variant(r, what.problem, staged.where());
                              staged.download(host.to);
                            });
                          },
                          told(i)});
    destinations.push_back({{i}, &record::timing::round_trip});
    contenders.push_back({r.id() + " end to end",
                          [&](std::uint64_t calls) { return timed(calls, [&] { end_to_end(what, r, host, queue); }); },
                          told(i)});
    destinations.push_back({{i}, &record::timing::end_to_end});
  }

  const std::vector<series> taken = measure_in_rounds(contenders, shorter(how.rule), how.hooks);
  for (std::size_t c = 0; c < taken.size(); ++c)
    for (const std::size_t i : destinations[c].rows)
      if (!taken[c].ns.empty()) *rows[i].result.timing.*destinations[c].clock = clock_of(taken[c]);
}

}  // namespace tilewise::lab
