// SPDX-License-Identifier: Apache-2.0
// `bench --isolate` and `--against`: the part of the work that one child process does, and how it reports to its
// parent.
#pragma once

#include "lab/bench/bench.hpp"
#include "tool/bench/output.hpp"
#include "tool/drivers/device_use.hpp"

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// A child's work: list the plan, measure the launches of its devices, or measure one group without some of its rows;
/// or one turn of `bench --against`.
struct bench_part {
  std::optional<std::size_t> group;
  std::set<std::size_t> without;
  bool of_launches = false, is_turn = false;
};
/// The argument of a child's command line: "plan", "launches", "turn" or "7,2,3", which is group 7 without rows 2
/// and 3. Throws `invalid_argument`.
bench_part parse_part(const std::string& text);
std::string to_string(const bench_part& part);

/// How far a child is. The parent polls it, since a pipe would wake it between samples.
struct part_progress {
  std::atomic<std::int64_t> row{-1};  // the row it is working on; negative: no particular one
  std::atomic<std::uint64_t> steps{0};
};

/// Memory that parent and child share: the child's progress, and its report as lines of JSON.
class part_report {
 public:
  part_report();                            // for the parent
  explicit part_report(int of_the_parent);  // for the child, which inherited it
  part_report(const part_report&) = delete;
  ~part_report();

  int descriptor() const { return file_; }
  part_progress& progress() { return *progress_; }
  void write(const nlohmann::json& told);
  std::vector<nlohmann::json> lines() const;  // without a line that a crash cut short

 private:
  void map();

  int file_;
  part_progress* progress_ = nullptr;
};

/// Converts a row's record and what the tables show beside it. `documents` must be the same in both processes.
nlohmann::json to_json(const lab::measured& m);
lab::measured measured_from(const nlohmann::json& told);

/// A group in the parent, which has no devices: its rows before anything is measured.
struct listed_group {
  std::string name, title;
  std::vector<lab::measured> rows;
};
struct listed_plan {
  std::vector<listed_group> groups;
  std::vector<lab::visit> visits;
  bool has_launches;   // whether launches are to be measured too
  std::string coming;  // what `bench` prints first
  closing_words last;  // and last
};
listed_plan plan_from(std::span<const nlohmann::json> lines);

/// What happened before a child starts. It needs this to keep the pace of all groups together.
struct part_history {
  double elapsed_ns = 0;  // since the first child began
  std::size_t step = 0;   // index in the plan's visits
  std::vector<std::vector<lab::pace_of_row>> groups;
  std::vector<lab::measured> first{};  // what the group's first visit found, if this is its last
};
nlohmann::json to_json(const part_history& of);

/// Functions of the child. If a device is lost, the process ends, since everything else on that device would fail as
/// well.
void tell_plan(std::span<const lab::group> plan, const lab::measuring& how, bool has_launches,
               const std::string& coming, const closing_words& last);
void tell_launches(std::span<const device_handle> devices, lab::measuring how);
/// Measures one visit to group `index` of the plan without some of its rows. The report begins with the history.
void tell_group(std::span<const lab::group> plan, std::size_t index, const std::set<std::size_t>& without,
                lab::measuring how);

/// One turn of `bench --against`: times the rows of ours and prints the median of each in nanoseconds. Results are not
/// checked.
inline constexpr std::string_view word_of_turn = "turn";
bool is_contested(const lab::group& g, const lab::row& r);
void tell_turn(std::span<const lab::group> plan, lab::measuring how);

}  // namespace tilewise::cli
