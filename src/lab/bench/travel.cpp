// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/travel.hpp"

#include "backend/group/device.hpp"
#include "lab/time/clock.hpp"
#include "lab/time/statistics.hpp"
#include "lab/verify/checks.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

using backend::group::rank;

struct ring {
  std::uint64_t bytes;
  unsigned exchanges, samples;
};
constexpr ring shortest{.bytes = 8, .exchanges = 16, .samples = 15};
/// Long against the shortest one on links of 400 GB/s, and within the memory of many ranks on one host.
constexpr std::uint64_t long_bytes_of_all = std::uint64_t{64} << 20;

/// One sample: all begin together, and the slowest rank's time counts.
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
