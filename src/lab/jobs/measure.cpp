// SPDX-License-Identifier: Apache-2.0
#include "lab/jobs/measure.hpp"

#include "call/execute.hpp"
#include "io/npy.hpp"
#include "lab/bench/derive.hpp"
#include "lab/bench/describe.hpp"
#include "lab/jobs/memory_folder.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/time/clock.hpp"
#include "lab/time/statistics.hpp"
#include "lab/verify/checks.hpp"
#include "record/fields.hpp"

#include <algorithm>
#include <filesystem>

namespace tilewise::lab {

namespace {

/// Whether the tool prints the result and writes no file.
bool is_printed(const registry::problem& p) { return p.what->name == "reduce"; }

/// The median of each phase, taken separately.
record::phases medians_of(std::span<const record::phases> all) {
  record::phases typical;
  record::each_field<record::phases>([&](const auto& f) {
    std::vector<double> ns;
    for (const record::phases& one : all)
      if (one.*f.member) ns.push_back(*(one.*f.member));
    if (!ns.empty()) (typical.*f.member) = summarize(ns).median;
  });
  return typical;
}

class job_measurement {
 public:
  job_measurement(const group& what, const verified_case& inputs, const measuring& how)
      : what_(what), inputs_(inputs), how_(how), results_(inputs.expected), phases_(what.rows.size()) {
    from_ = call::pointers_to(inputs.inputs);
    to_ = call::pointers_to(results_);
    for (const row& r : what.rows) all_.push_back(describe(what, r, how));
    if (how.what == mode::file_to_file) make_files();
  }

  std::vector<measured> run() {
    check_and_time(
        all_, how_.hooks, [this](std::size_t i) { check(i); }, [this] { time_rows(); });
    derive(what_, all_);
    return std::move(all_);
  }

 private:
  void make_files() {
    folder_.emplace();
    const registry::problem& p = inputs_.problem;
    for (const registry::operand& in : p.what->inputs(p)) {
      files_.in.push_back(folder_->file(std::string(in.name) + ".npy"));
      io::write_npy(files_.in.back(), in.type, std::span(&in.count, 1), inputs_.inputs[files_.in.size() - 1]);
    }
    if (is_printed(p)) return;
    for (const registry::operand& out : p.what->outputs(p))
      files_.out.push_back(folder_->file("result_" + std::string(out.name) + ".npy"));
  }

  void run_job(std::size_t i) {
    const row& r = what_.rows[i];
    const registry::problem& p = inputs_.problem;
    if (is_limit(*r.variant))
      return folder_ ? move_files(p, files_, r.on->queue()) : move_operands(p, r.on->queue(), from_, to_);
    const plain_job plain(p, r, how_.copies);
    if (!folder_)
      return r.variant->peer ? plain.on_host(from_, to_)
                             : call::run_on_host(p, {r.variant, r.tuning, ""}, r.on->queue(), from_, to_);
    if (r.variant->peer) return phases_[i].push_back(plain.on_files(files_, results_));
    file_outcome done = how_.on_files(p, r, files_);
    phases_[i].push_back(done.phases);
    if (is_printed(p)) results_ = std::move(done.printed), to_ = call::pointers_to(results_);
  }

  /// Clears the outputs, so that no row can pass with another row's results.
  void forget_results() {
    for (std::vector<std::byte>& result : results_) std::fill(result.begin(), result.end(), std::byte{0xa5});
    for (const std::string& path : files_.out) std::filesystem::remove(path);
  }

  const call::host_operands& fetch_results() {
    for (std::size_t o = 0; o < files_.out.size(); ++o) {
      const io::npy_array file = io::read_npy(files_.out[o]);
      results_[o].assign(file.data.begin(), file.data.end());
    }
    to_ = call::pointers_to(results_);
    return results_;
  }

  void check(std::size_t i) {
    how_.on_row(i);
    measured& m = all_[i];
    const row& r = what_.rows[i];
    m.guard(how_.hooks, [&] {
      forget_results();
      const std::int64_t started = now_ns();
      run_job(i);
      const bool is_first = !m.result.timing->first_call_ns;
      if (is_first) m.result.timing->first_call_ns = static_cast<double>(now_ns() - started);
      if (is_limit(*r.variant)) return;
      m.result.verify = verification_of(inputs_, r.variant->order, compare(inputs_, *r.variant, fetch_results()));
      if (!m.result.verify->ok) m.end(record::status::wrong, why_wrong(is_first));
      phases_[i].clear();  // drops the phases of checks, which are not samples
    });
  }

  void time_rows() {
    std::vector<std::size_t> timed;
    std::vector<contender> contenders;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].is_ok()) continue;
      timed.push_back(i);
      contenders.push_back({what_.rows[i].id() + " @" + what_.rows[i].place(), [this, i](std::uint64_t calls) {
                              const std::int64_t started = now_ns();
                              for (std::uint64_t k = 0; k < calls; ++k) run_job(i);
                              return static_cast<double>(now_ns() - started);
                            }});
      contenders.back().prepare = [this, i] { how_.on_row(i); };
    }
    const std::vector<series> taken = measure_in_rounds(contenders, how_.rule, how_.hooks);
    for (std::size_t c = 0; c < timed.size(); ++c) keep(timed[c], taken[c]);
  }

  void keep(std::size_t i, const series& taken) {
    measured& m = all_[i];
    if (!taken.failure.empty()) return m.fail(taken.failure, taken.failure_code);
    if (taken.reason == stop_reason::interrupted) m.interrupt();
    record::timing& timing = *m.result.timing;
    if (!taken.ns.empty()) timing.end_to_end = clock_of(taken);
    timing.clock_name = "steady_clock";
    if (!phases_[i].empty()) timing.phases = medians_of(phases_[i]);
    m.result.what.threads = threads_of(what_.rows[i]);
  }

  const group& what_;
  const verified_case& inputs_;
  const measuring& how_;
  call::host_operands results_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
  std::optional<memory_folder> folder_;  // for jobs on files
  job_files files_;
  std::vector<std::vector<record::phases>> phases_;  // by row, then by sample
  std::vector<measured> all_;
};

}  // namespace

std::vector<measured> measure_jobs(const group& what, const verified_case& inputs, const measuring& how) {
  return job_measurement(what, inputs, how).run();
}

}  // namespace tilewise::lab
