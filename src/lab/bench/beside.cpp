// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/beside.hpp"

#include "backend/group/device.hpp"
#include "call/execute.hpp"
#include "lab/bench/agreement.hpp"
#include "lab/bench/peer_call.hpp"
#include "lab/plan/visits.hpp"
#include "lab/time/clock.hpp"
#include "lab/time/statistics.hpp"
#include "lab/verify/checks.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

template <class F>
double timed(std::uint64_t calls, F&& f) {
  const std::int64_t started = now_ns();
  for (std::uint64_t i = 0; i < calls; ++i) f();
  return as_first_rank(static_cast<double>(now_ns() - started));
}

/// Transfers are only shown beside the kernel's time, and vary more. Each gets a fifth of the measuring time that a
/// kernel has in all its visits.
stop_rule shorter(stop_rule rule) {
  rule.min_ns *= visits_of_each / 5.0;
  rule.max_ns *= visits_of_each / 5.0;
  return rule;
}

/// Host memory that transfers start from and end in.
struct host_side {
  std::vector<const void*> inputs;
  call::host_operands outputs;
  std::vector<void*> to;

  explicit host_side(const verified_case& c)
      : inputs(call::pointers_to(c.inputs)), outputs(c.expected), to(call::pointers_to(outputs)) {}
};

/// Runs the row as a call on host memory does: in pieces if that is faster.
void end_to_end(const group& what, const row& r, const host_side& host, backend::queue& queue) {
  call::run_on_host(what.problem, {r.variant, r.tuning, ""}, queue, host.inputs, host.to);
}

/// Whether one call already takes as long as all samples may: then four more calls, with transfers, are left out.
bool is_too_slow(const group& what, std::size_t i, const measured& m, const measuring& how) {
  return m.time() != nullptr && *m.time()->median_ns > visits_of_each * how.rule.max_ns &&
         !is_of_document(what, what.rows[i]);
}

/// The rows and the clock that a contender's samples belong to.
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
  const call::operands& staged = memory.operands(0);
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

namespace {

using backend::group::rank;

struct ring {
  std::uint64_t bytes;
  unsigned exchanges, samples;
};
constexpr ring shortest{.bytes = 8, .exchanges = 16, .samples = 15};
/// Takes long compared with the shortest exchange even on links of 400 GB/s, and fits in memory for many ranks on one
/// host.
constexpr std::uint64_t long_bytes_of_all = std::uint64_t{64} << 20;

/// One sample: all ranks begin together, and the slowest rank's time counts.
double sample(const rank& r, const ring& what, const backend::memory& out, const backend::memory& in) {
  const unsigned next = (r.index() + 1) % r.count(), last = (r.index() + r.count() - 1) % r.count();
  const backend::group::parcel send{next, out}, receive{last, in};
  r.queue().finish();
  r.all_gather(char{});
  const std::int64_t begun = now_ns();
  for (unsigned i = 0; i < what.exchanges; ++i) r.exchange({&send, 1}, {&receive, 1});
  r.queue().finish();
  const std::vector<std::int64_t> all = r.all_gather(now_ns() - begun);
  return static_cast<double>(*std::max_element(all.begin(), all.end())) / what.exchanges;
}

/// The median time of an exchange in which each rank sends to the next.
double time_ring(backend::group::queue& ranks, const ring& what) {
  std::vector<double> taken;
  ranks.on_each_rank([&](const rank& r) {
    const backend::buffer out(r.queue(), what.bytes), in(r.queue(), what.bytes);
    const std::vector<std::byte> sent(what.bytes, std::byte{1});  // untouched pages would all be one page of zeros
    r.queue().upload(out, sent.data(), what.bytes);
    sample(r, what, out, in);
    for (unsigned i = 0; i < what.samples; ++i) {
      const double ns = sample(r, what, out, in);
      if (r.index() == ranks.first_rank()) taken.push_back(ns);
    }
  });
  return summarize(taken).median;
}

void measure_link(backend::group::queue& ranks, std::span<measured> rows) {
  if (ranks.ranks() == 1) return;
  const ring longest{.bytes = long_bytes_of_all / ranks.ranks(), .exchanges = 1, .samples = 5};
  const double latency_ns = time_ring(ranks, shortest), long_ns = time_ring(ranks, longest);
  for (measured& m : rows) {
    m.result.ranks->latency_ns = latency_ns;
    if (long_ns > latency_ns)
      m.result.ranks->link_bytes_per_s = static_cast<double>(longest.bytes) / (long_ns - latency_ns) * 1e9;
  }
}

}  // namespace

void measure_travel(const group& what, const verified_case& inputs, const operand_sets& memory, const measuring& how,
                    std::span<measured> rows) {
  const auto has_travelled = [](const measured& m) { return m.is_ok() && m.result.ranks && m.result.verify; };
  const auto first = std::find_if(rows.begin(), rows.end(), has_travelled);
  if (first == rows.end()) return;
  auto& ranks = backend::group::enter(what.rows.front().on->queue());
  how.on_row({});
  first->guard(how.hooks, [&] { measure_link(ranks, rows); });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!has_travelled(rows[i])) continue;
    how.on_row(i);
    rows[i].guard(how.hooks, [&] {
      const backend::group::travel all = ranks.metered([&] { run_row(what.rows[i], inputs.problem, memory, 0); });
      record::ranks& told = *rows[i].result.ranks;
      told.sent_bytes = all.bytes;
      told.exchanges = all.exchanges;
      told.exchange_ns = all.ns;
    });
  }
}

}  // namespace tilewise::lab
