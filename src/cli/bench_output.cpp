// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_output.hpp"

#include "cli/bench_table.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/seeds_table.hpp"
#include "report/format.hpp"
#include "report/report.hpp"

#include <algorithm>

namespace tilewise::cli {

bench_output::bench_output(const bench_outputs& asked, std::size_t groups, std::vector<std::string> argv)
    : asked_(asked), groups_(groups), session_(lab::describe_session(std::move(argv))) {
  if (!asked.records.empty()) file_.emplace(asked.records);
  print(asked.of_documents ? seeds_heading() : bench_heading());
}

void bench_output::begin(std::size_t index, const std::string& title, const std::string& name) {
  current_ = index;
  if (title != block_title_) print_block();
  block_title_ = title;
  tell(name);
}

void bench_output::tell(const std::string& what) const {
  progress("group " + std::to_string(current_ + 1) + "/" + std::to_string(groups_) + ", " + what);
}

void bench_output::keep(lab::measured m) {
  session_.sign(m.result);
  if (file_) file_->write(m.result);
  if (!asked_.report.empty()) written_.add(m.result);
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
