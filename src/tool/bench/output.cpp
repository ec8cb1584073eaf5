// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/output.hpp"

#include "report/format.hpp"
#include "report/report.hpp"
#include "tool/bench/table.hpp"
#include "tool/output.hpp"

#include <algorithm>

namespace tilewise::cli {

void print_last(const closing_words& words) {
  print(words.closing);
  if (!words.limited.empty()) note(words.limited);
}

bench_output::bench_output(const bench_outputs& asked, std::vector<std::string> argv)
    : asked_(asked), session_(lab::describe_session(std::move(argv))) {
  if (!asked.records.empty()) file_.emplace(asked.records);
  before_ending_at_once([this] { write_held(); });
  print(asked.of_documents ? seeds_heading() : bench_heading());
}

void bench_output::begin(std::size_t step, std::size_t steps, const std::string& name) {
  step_ = "visit " + std::to_string(step + 1) + "/" + std::to_string(steps);
  tell(name);
}

void bench_output::tell(const std::string& what) const { progress(step_ + ", " + what); }

void bench_output::hold(std::span<const lab::measured> rows) {
  const std::lock_guard lock(held_mutex_);
  held_[rows.front().result.what.group].assign(rows.begin(), rows.end());
}

void bench_output::write_held() {
  const std::lock_guard lock(held_mutex_);
  for (auto& [group, rows] : held_)
    for (lab::measured& m : rows) {
      session_.sign(m.result);
      if (file_) file_->write(m.result);
    }
  held_.clear();
}

void bench_output::keep(const std::string& title, std::span<const lab::measured> rows) {
  if (const std::lock_guard lock(held_mutex_); !rows.empty()) held_.erase(rows.front().result.what.group);
  if (title != block_title_) print_block();
  block_title_ = title;
  for (const lab::measured& m : rows) keep(m);
}

void bench_output::keep(record::result limit) { write(limit); }

void bench_output::write(record::result& r) {
  session_.sign(r);
  if (file_) file_->write(r);
  if (!asked_.report.empty()) written_.add(r);
}

void bench_output::keep(lab::measured m) {
  write(m.result);
  tell_line(m);
  block_.push_back(m);
  all_.push_back(std::move(m));
}

void bench_output::tell_line(const lab::measured& m) const {
  if (asked_.quiet || shows_progress()) return;
  note(m.result.what.group + " " + m.result.what.variant + " @" + m.place + ": " +
       std::string(name_of(m.result.state)) + ", " +
       (m.time() != nullptr ? report::duration(*m.time()->median_ns) : m.result.reason.value_or("")));
}

void bench_output::print_block() {
  progress("");
  if (!block_.empty()) print(block_.front().from != nullptr ? seeds_block(block_) : bench_block(block_));
  block_.clear();
}

exit_code bench_output::finish() {
  print_block();
  print(bench_verdict(all_));
  if (!asked_.report.empty()) report::write_html(report::make_model(std::move(written_)), asked_.report);
  return judged(all_);
}

exit_code judged(std::span<const lab::measured> all) {
  if (interrupt_requested()) return exit_code::interrupted;
  const auto lacks_memory = [](const lab::measured& m) { return m.failure == errc::out_of_memory; };
  if (std::all_of(all.begin(), all.end(), lacks_memory)) {
    note("tilewise: nothing could be measured: " + *all.front().result.reason + "; choose a smaller size");
    return exit_code::out_of_memory;
  }
  exit_code worst = exit_code::ok;
  for (const lab::measured& m : all) {
    const auto& course = m.result.course;
    const record::status state = m.result.state;
    if (state == record::status::wrong || (course && course->differs_from_document())) return exit_code::wrong_result;
    if (state == record::status::failed || state == record::status::timeout)
      worst = graver(worst, m.failure ? exit_code_of(*m.failure) : exit_code::internal);
  }
  return worst;
}

}  // namespace tilewise::cli
