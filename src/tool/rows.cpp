// SPDX-License-Identifier: Apache-2.0
#include "tool/rows.hpp"

#include "lab/plan/request.hpp"
#include "tool/arrays/file.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"

#include <algorithm>
#include <array>

namespace tilewise::cli {

void take_records(std::span<const std::string> files, const std::function<void(const record::result&)>& take) {
  for (const std::string& file : files) refuse_overwriting(file, io::standard_stream);
  std::vector<std::string> warnings;
  for (const std::string& file : files) record::read_records(file, take, &warnings);
  for (const std::string& warning : warnings) note("tilewise: " + warning);
}

report::row_table read_rows(std::span<const std::string> files) {
  report::row_table rows;
  take_records(files, [&](const record::result& r) { rows.add(r); });
  return rows;
}

analysed_rows::analysed_rows(const std::string& records, bool quiet, std::vector<std::string> argv)
    : quiet_(quiet), session_(lab::describe_session(std::move(argv))) {
  require_distinct_outputs(std::array<std::string, 2>{records, io::standard_stream});
  if (!records.empty()) file_.emplace(records);
}

void analysed_rows::tell(const std::string& text) const {
  if (quiet_) return;
  shows_progress() ? progress(text) : note(text);
}

void analysed_rows::keep(const record::result& r) {
  if (file_) file_->write(r);
  rows_.add(r);
}

void analysed_rows::keep(lab::measured m) {
  sign(m.result);
  keep(m.result);
  const std::string reason = m.result.reason.value_or("");
  if (m.time() == nullptr && m.result.state != record::status::interrupted && reason != last_reason_) {
    last_reason_ = reason;
    note("tilewise: " + m.result.what.group + ", " + label_of(m) + ": " + std::string(name_of(m.result.state)) + ", " +
         reason);
  }
  all_.push_back(std::move(m));
}

void analysed_rows::measure(std::span<const lab::group> plan, std::string_view preset, double max_time_s) {
  lab::bench_events events;
  events.before_visit = [&](const lab::group& g, std::size_t step, std::size_t steps) {
    tell("visit " + std::to_string(step + 1) + "/" + std::to_string(steps) + ", " + g.name());
  };
  events.on_group = [&](const lab::group&, std::span<const lab::measured> rows) {
    for (const lab::measured& m : rows) keep(m);
  };
  lab::run_bench(plan, measuring_for(preset, max_time_s), events);
}

lab::measuring measuring_for(std::string_view preset, double max_time_s) {
  lab::measuring how;
  how.rule = lab::find_preset(preset).rule;
  how.rule.max_ns = max_time_s * 1e9;
  how.rule.min_ns = std::min(how.rule.min_ns, how.rule.max_ns);
  how.hooks.interrupted = interrupt_requested;
  how.hooks.before_sample = [](const lab::contender& next, std::size_t round) {
    progress("round " + std::to_string(round) + ", " + next.name);
  };
  return how;
}

}  // namespace tilewise::cli
