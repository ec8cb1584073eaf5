// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/measure.hpp"

#include "lab/bench/agreement.hpp"
#include "lab/bench/beside.hpp"
#include "lab/bench/derive.hpp"
#include "lab/bench/describe.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/jobs/measure.hpp"
#include "lab/plan/visits.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/time/clock.hpp"
#include "lab/time/rounds.hpp"
#include "lab/verify/checks.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

namespace tilewise::lab {

namespace {

/// If a call is shorter than this, an untimed call precedes each hot sample, since the other contenders have filled the
/// caches with their data. Longer calls fill the caches by their first pass over the data.
constexpr double settle_below_ns = 2e6;

/// Idle workers of GCC's OpenMP spin before they sleep, by default 300,000 turns; 6.8 ms were measured. Without this
/// rest they would take a core from the next contender.
constexpr std::chrono::milliseconds openmp_rest{8};

/// Successive rows of a group that work on the same memory.
struct part {
  group what;
  std::size_t first;  // index of its first row in the group
  operand_sets memory;
  lab::checks checks;
  std::optional<cache_flusher> flusher{};

  part(group rows, std::size_t begin, const verified_case& inputs, bool is_cold)
      : what(std::move(rows)),
        first(begin),
        memory(inputs, what.rows.back().on->queue(), is_cold ? cold_sets : 1),
        checks(inputs, memory) {
    if (is_cold) flusher.emplace(what.rows.back().on->queue());
  }
};

class group_measurement {
 public:
  group_measurement(const group& what, const verified_case& inputs, const measuring& how)
      : what_(what), inputs_(inputs), how_(how) {
    for (std::size_t first = 0; first < what.rows.size(); first = part_of_.size()) {
      group same{what.problem, what.where, {}, what.from};
      for (std::size_t i = first; i < what.rows.size() && share_memory(what.rows[first], what.rows[i]); ++i)
        same.rows.push_back(what.rows[i]);
      part& added = parts_.emplace_back(std::move(same), first, inputs, how.what == mode::cold);
      part_of_.resize(first + added.what.rows.size(), &added);
    }
    for (const row& r : what.rows) all_.push_back(describe(what, r, how));
  }

  std::vector<measured> run() {
    check_and_time(
        all_, how_.hooks, [this](std::size_t i) { check(i); }, [this] { time_rows(); });
    derive(what_, all_);
    if (how_.with_transfers)
      for (part& p : parts_) measure_beside(p);
    for (measured& m : all_) hold_against_round_trip(m);
    return std::move(all_);
  }

 private:
  void check(std::size_t i) {
    how_.on_row(i);
    measured& m = all_[i];
    const row& r = what_.rows[i];
    if (how_.is_checked) return m.guard(how_.hooks, [&] { call_once(r, *part_of_[i]); });
    const bool is_first = m.time() == nullptr && !is_of_document(what_, r) && !r.variant->peer && !is_limit(*r.variant);
    if (is_first && as_first_rank(static_cast<double>(now_ns() - started_)) > how_.first_checks_ns)
      return m.end(record::status::skipped, "the rows before it took this group's time for first calls, " +
                                                seconds(how_.first_checks_ns) + "; --max-time gives all more");
    m.guard(how_.hooks, [&] { part_of_[i]->checks.check(r, m); });
    if (is_first && m.is_ok()) leave_out_if_long(r, m);
  }

  /// So that the first sample does not wait for a compiler.
  void call_once(const row& r, const part& own) const {
    run_row(r, inputs_.problem, own.memory, 0);
    r.on->queue().finish();
  }

  void leave_out_if_long(const row& r, measured& m) const {
    const double ns = m.result.timing->first_call_ns.value_or(0);
    if (r.on->info().backend != "cpu" || as_first_rank(ns) <= how_.longest_first_call_ns) return;
    m.end(record::status::skipped,
          "its first call took " + seconds(ns) + ", much longer than all samples of a row together (--max-time)");
  }

  /// Measures what is shown beside the kernels' times.
  void measure_beside(part& p) {
    measuring how = how_;
    how.on_row = [&](std::optional<std::size_t> row) { how_.on_row(row ? std::optional(p.first + *row) : row); };
    const std::span<measured> rows = std::span(all_).subspan(p.first, p.what.rows.size());
    if (!how.hooks.interrupted()) measure_transfers(p.what, inputs_, p.memory, how, rows);
    if (!how.hooks.interrupted()) measure_travel(p.what, inputs_, p.memory, how, rows);
  }

  contender contender_of(std::size_t i) {
    const row& r = what_.rows[i];
    part& own = *part_of_[i];
    // Shared by the two functions below: the next set, and the time of the last call.
    const auto set = std::make_shared<std::size_t>(0);
    const auto last_ns = std::make_shared<double>(0);
    contender c{r.id() + " @" + r.place(), [this, &r, &own, set, last_ns](std::uint64_t calls) {
                  backend::queue& queue = r.on->queue();
                  queue.start_clock();
                  for (std::uint64_t k = 0; k < calls; ++k) run_row(r, inputs_.problem, own.memory, *set);
                  const double ns = queue.stop_clock();
                  *last_ns = ns / static_cast<double>(calls);
                  return ns;
                }};
    c.one_call = how_.what == mode::cold;
    if (r.on->info().name == "cpu:openmp") c.after = [] { std::this_thread::sleep_for(openmp_rest); };
    c.prepare = [this, i, &r, &own, set, last_ns] {
      how_.on_row(i);
      if (how_.what == mode::cold) {
        *set = (*set + 1) % own.memory.count();
        own.flusher->flush();
      } else if (*last_ns < settle_below_ns) {
        call_once(r, own);
      }
    };
    return c;
  }

  void time_rows() {
    std::vector<std::size_t> timed;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].is_ok()) timed.push_back(i);
    if (timed.empty()) return;
    std::vector<contender> contenders;
    for (const std::size_t i : timed) contenders.push_back(contender_of(i));
    // Measures one row against itself for the noise floor: the first row of ours, or any other if there is none.
    const auto ours = std::find_if(timed.begin(), timed.end(), [&](std::size_t i) {
      return all_[i].result.verify && what_.rows[i].variant->backend != "serial";
    });
    const std::size_t twice = static_cast<std::size_t>((ours != timed.end() ? ours : timed.begin()) - timed.begin());
    if (!how_.is_checked) {
      contenders.push_back(contender_of(timed[twice]));
      contenders.back().name += " again";
    }
    const std::vector<series> taken = measure_in_rounds(contenders, how_.rule, how_.hooks);
    const auto noise = how_.is_checked ? std::nullopt : noise_between(taken[twice], taken.back());
    for (std::size_t c = 0; c < timed.size(); ++c) keep(timed[c], taken[c], noise);
  }

  void keep(std::size_t i, const series& taken, const std::optional<noise_floor>& noise) {
    measured& m = all_[i];
    if (!taken.failure.empty()) return m.fail(taken.failure, taken.failure_code);
    if (taken.reason == stop_reason::interrupted) m.interrupt();
    if (!taken.ns.empty()) m.result.timing->kernel = clock_of(taken);
    m.result.timing->clock_name = what_.rows[i].on->queue().clock_name();
    m.result.what.threads = threads_of(what_.rows[i]);
    if (noise) m.result.noise = {noise->aa_median_ratio, noise->min_effect};
  }

  const group& what_;
  const verified_case& inputs_;
  const measuring& how_;
  const std::int64_t started_ = now_ns();
  std::deque<part> parts_;
  std::vector<part*> part_of_;  // by row
  std::vector<measured> all_;
};

}  // namespace

std::vector<measured> measure_group(const group& what, const verified_case& inputs, const measuring& how) {
  try {
    if (is_whole_job(how.what)) return measure_jobs(what, inputs, how);
    return group_measurement(what, inputs, how).run();
  } catch (const error& failure) {
    how.hooks.on_failure(failure);
    if (failure.code() == errc::out_of_memory) return describe_shortage(what, how, failure.what());
    std::vector<measured> all = describe_unmeasured(what, how, record::status::failed, failure.what());
    for (measured& m : all) m.failure = failure.code();
    return all;
  }
}

}  // namespace tilewise::lab
