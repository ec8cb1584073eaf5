// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/isolated.hpp"

#include "record/json.hpp"
#include "tool/bench/part.hpp"
#include "tool/drivers/child.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace tilewise::cli {

namespace {

using lab::measured;
using std::chrono::steady_clock;

/// The error code for how a child ended; none if that is a fault in Tilewise.
std::optional<errc> code_of(const child_result& ended) {
  if (!ended.exited) return errc::device_lost;
  for (const errc code : {errc::device_lost, errc::out_of_memory, errc::unsupported, errc::io, errc::invalid_argument})
    if (static_cast<int>(exit_code_of(code)) == ended.status) return code;
  return std::nullopt;
}

/// What one child did.
struct part_result {
  child_result ended;
  std::vector<nlohmann::json> lines;
  std::int64_t row;  // the row that it worked on last; negative: none in particular
};

class isolated_bench {
 public:
  isolated_bench(const std::vector<std::string>& argv, unsigned time_limit_s)
      : words_(argv.begin() + 1, argv.end()), limit_(time_limit_s) {}

  /// Lists the plan in a child. Throws what the child reported if it fails.
  listed_plan plan() {
    const part_result listed = run({}, [](std::int64_t) {});
    const child_result& ended = listed.ended;
    started_ = steady_clock::now();
    const bool is_whole = !listed.lines.empty() && listed.lines.back().contains("closing");
    if (ended.succeeded() && is_whole) return plan_from(listed.lines);  // a driver may crash at the end
    const std::string what = ended.exited ? why(ended) : "the plan cannot be made: " + why(ended);
    if (const auto code = code_of(ended)) throw error(*code, what);
    throw std::runtime_error(what);
  }

  /// Measures one visit to a group; the results are in the order of its rows. Nothing if an interrupt ended the child.
  /// `first` is what the first visit found, if this is the last.
  std::vector<measured> visit(const listed_group& g, std::size_t index, std::size_t step, std::vector<measured> first,
                              const std::function<void(std::int64_t row)>& tell) {
    std::vector<measured> rows = g.rows;
    std::set<std::size_t> lost;
    history_.step = step;
    history_.first = std::move(first);
    while (lost.size() < rows.size()) {
      const part_result done = run({index, lost}, tell);
      if (done.lines.size() == rows.size()) {
        for (std::size_t i = 0; i < rows.size(); ++i)
          if (!lost.contains(i)) rows[i] = measured_from(done.lines[i]);
        if (!done.ended.succeeded()) tell_late_end(g, done.ended);
        return rows;
      }
      if (interrupt_requested()) return {};
      const auto row = static_cast<std::size_t>(done.row);
      if (row < rows.size() && lost.insert(row).second) {
        lose(rows[row], done.ended);
        continue;
      }
      for (std::size_t i = 0; i < rows.size(); ++i)  // it crashed while it prepared what all rows share
        if (lost.insert(i).second) lose(rows[i], done.ended);
    }
    return rows;
  }

  /// Measures the launches of all devices, until one of them ends the child. The rows of that device report it later.
  void measure_launches(bench_output& output) {
    bench_part part;
    part.of_launches = true;
    for (const nlohmann::json& told : run(part, [](std::int64_t) {}).lines) output.keep(record::from_json(told));
  }

  /// Keeps the times by which later groups are judged.
  void remember(std::span<const measured> rows) { history_.groups.push_back(lab::paces_of(rows)); }

  /// The failure of children that ended badly after they had measured everything.
  exit_code late_end() const { return late_end_; }

 private:
  part_result run(const bench_part& part, const std::function<void(std::int64_t row)>& tell) {
    part_report report;
    const std::chrono::duration<double, std::nano> elapsed = steady_clock::now() - started_;
    history_.elapsed_ns = elapsed.count();
    report.write(to_json(history_));
    std::vector<std::string> arguments = words_;
    const auto command = std::find(arguments.begin(), arguments.end(), "bench");
    arguments.insert(command + 1, {"--part", to_string(part)});
    bool interrupted = false;
    std::uint64_t seen = 0;
    patience ours;
    const auto goes_on = [&](pid_t child) {
      if (interrupt_requested() && !interrupted) kill(child, SIGINT);
      interrupted = interrupt_requested();
      if (const std::uint64_t steps = report.progress().steps; steps != seen) seen = steps, ours = {};
      tell(report.progress().row);
      return limit_.count() == 0 || ours.used() < limit_ + grace;
    };
    const child_result ended = run_self(arguments, report.descriptor(), goes_on);
    tell_notes(ended);
    std::vector<nlohmann::json> told = report.lines();
    told.erase(told.begin());  // written by this process
    return {ended, std::move(told), report.progress().row};
  }

  /// Prints each line of the child's notes once, since all children print the same warnings. The reason for a failure
  /// is printed elsewhere.
  void tell_notes(const child_result& ended) {
    std::istringstream lines(ended.err);
    for (std::string line; std::getline(lines, line);) {
      const bool is_failure = !ended.succeeded() && line.ends_with(last_words(ended)) && lines.peek() == EOF;
      if (!is_failure && told_.insert(line).second) note(line);
    }
  }

  std::string why(const child_result& ended) const {
    if (ended.timed_out())
      return "it made no progress for " + std::to_string(limit_.count()) +
             " s; it hangs, or the work is long: --time-limit SECONDS waits longer";
    return ended.exited && !last_words(ended).empty() ? last_words(ended) : "its process " + explain(ended);
  }

  void lose(measured& m, const child_result& ended) const {
    if (m.result.state == record::status::skipped) return;
    m.fail(why(ended), code_of(ended));
    if (ended.timed_out()) m.result.state = record::status::timeout;
  }

  void tell_late_end(const listed_group& g, const child_result& ended) {
    note("tilewise: after the last record of " + g.name + ", " + why(ended));
    late_end_ = exit_code::device_lost;
  }

  /// A watchdog in the child ends a call of a driver at the limit and names it. This process waits a little longer.
  static constexpr std::chrono::seconds grace{2};

  const std::vector<std::string> words_;
  const std::chrono::seconds limit_;
  steady_clock::time_point started_ = steady_clock::now();
  part_history history_;
  std::set<std::string> told_;
  exit_code late_end_ = exit_code::ok;
};

}  // namespace

exit_code bench_isolated(const bench_outputs& asked, const std::vector<std::string>& argv, unsigned time_limit_s) {
  isolated_bench children(argv, time_limit_s);
  const listed_plan plan = children.plan();
  take_interrupts();
  bench_output output(asked, argv);
  if (!asked.quiet) note(plan.coming);
  if (plan.has_launches) children.measure_launches(output);
  std::map<std::size_t, std::vector<measured>> found;  // first visits of groups whose last visit is still to come
  for (std::size_t step = 0; step < plan.visits.size() && !interrupt_requested(); ++step) {
    const lab::visit& v = plan.visits[step];
    const listed_group& g = plan.groups.at(v.group);
    output.begin(step, plan.visits.size(), g.name);
    const auto tell = [&](std::int64_t row) {
      const measured* const now = row < 0 ? nullptr : &g.rows.at(static_cast<std::size_t>(row));
      output.tell(now == nullptr ? g.name : now->result.what.variant + " @" + now->place);
    };
    std::vector<measured> rows =
        children.visit(g, v.group, step, v.is_last ? found[v.group] : std::vector<measured>{}, tell);
    if (rows.empty()) continue;
    if (!v.is_last) children.remember(rows);
    found[v.group] = std::move(rows);
    if (v.is_last) output.keep(g.title, found.extract(v.group).mapped());
  }
  for (const auto& [at, rows] : found) output.keep(plan.groups[at].title, rows);  // interrupted before their last visit
  if (plan.has_launches && !interrupt_requested()) children.measure_launches(output);
  const exit_code result = output.finish();
  if (!interrupt_requested()) print_last(plan.last);
  return result == exit_code::interrupted ? result : graver(result, children.late_end());
}

}  // namespace tilewise::cli
