// SPDX-License-Identifier: Apache-2.0
// `bench --isolate`: the part of the work that one child process does, and how it tells its parent.
#pragma once

#include "lab/bench/bench.hpp"
#include "tool/drivers/device_use.hpp"

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// Lists the plan, measures the launches of its devices, or one group of it but for some of its rows.
struct bench_part {
  std::optional<std::size_t> group;
  std::set<std::size_t> without;
  bool of_launches = false;
};
/// As the words of a command line: "plan", "launches" or "7,2,3", which is group 7 without rows 2 and 3. Throws
/// `invalid_argument`.
bench_part parse_part(const std::string& text);
std::string to_string(const bench_part& part);

/// How far a child is. The parent looks at it now and then; pipes would wake it between samples.
struct part_progress {
  std::atomic<std::int64_t> row{-1};  // that it works for; negative: for none in particular
  std::atomic<std::uint64_t> steps{0};
};

/// Memory that both share: the child's progress, then what it tells, as lines of JSON.
class part_report {
 public:
  part_report();                            // the parent's
  explicit part_report(int of_the_parent);  // the child's, which inherited it
  part_report(const part_report&) = delete;
  ~part_report();

  int descriptor() const { return file_; }
  part_progress& progress() { return *progress_; }
  void write(const nlohmann::json& told);
  std::vector<nlohmann::json> lines() const;  // without one that a crash cut short

 private:
  void map();

  int file_;
  part_progress* progress_ = nullptr;
};

/// A row's record with what the tables show beside it. `documents` are the same on both sides.
nlohmann::json to_json(const lab::measured& m);
lab::measured measured_from(const nlohmann::json& told);

/// A group as the parent knows it, which has no devices: its rows as they are before anything is measured.
struct listed_group {
  std::string name, title;
  std::vector<lab::measured> rows;
};
struct listed_plan {
  std::vector<listed_group> groups;
  std::vector<lab::visit> visits;
  bool has_launches;    // whether it measures them too
  std::string coming;   // what `bench` says beforehand
  std::string closing;  // what it prints last
};
listed_plan plan_from(std::span<const nlohmann::json> lines);

/// What went before: a child keeps the pace of all of them together.
struct part_history {
  double elapsed_ns = 0;  // since the first began
  std::size_t step = 0;   // of the plan's visits
  std::vector<std::vector<lab::pace_of_row>> groups;
  std::vector<lab::measured> first{};  // what the group's first visit found, if this is the last
};
nlohmann::json to_json(const part_history& of);

/// The child's side. A lost device ends the process: whatever else uses it would fail as well.
void tell_plan(std::span<const lab::group> plan, const lab::measuring& how, bool has_launches,
               const std::string& coming, const std::string& closing);
void tell_launches(std::span<const device_handle> devices, lab::measuring how);
/// One visit to group `index` of the plan but for some of its rows; the report begins with the history.
void tell_group(std::span<const lab::group> plan, std::size_t index, const std::set<std::size_t>& without,
                lab::measuring how);

}  // namespace tilewise::cli
