// SPDX-License-Identifier: Apache-2.0
// One run of the benchmark, from its start or a checkpoint to its last output.
#pragma once

#include "tool/diffuse/folder.hpp"
#include "tool/diffuse/stepper.hpp"

#include <chrono>

namespace tilewise::hiperc {

/// The problem for which a variant is chosen: the steps between two outputs, since each output ends a call.
registry::problem problem_between_outputs(const parameters& p, dtype type);

/// Where a run begins: at the initial field, or at the folder's checkpoint, with the rows written up to it.
struct beginning {
  snapshot shot;
  std::vector<runlog_row> rows;
};
/// Throws `invalid_argument` if the folder's checkpoint would be lost or is beyond the last step.
beginning begin_run(const parameters& p, dtype type, const output_folder& folder, bool resume);

/// Adds up the seconds of several intervals.
class stopwatch {
 public:
  template <class F>
  void time(F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  double seconds = 0;
};

class run {
 public:
  /// `how` must be chosen for problem_between_outputs on the queue's device.
  run(beginning from, output_folder folder, const registry::choice& how, backend::queue& queue);

  /// Runs to the last step. Calls `goes_on` between steps a few times a second; if that returns false, writes a
  /// checkpoint of the step that was reached, and returns false.
  bool complete(const std::function<bool()>& goes_on);

  const snapshot& now() const { return stepper_.now(); }
  double residual() const { return rows_.back().residual; }  // at the last output
  double stepping_s() const { return stepper_.seconds(); }   // for the steps of this run, without transfers
  double seconds_left() const;                               // at the pace so far

 private:
  double since_start_s() const;
  void write_output();
  void keep();

  output_folder folder_;
  std::vector<runlog_row> rows_;
  std::uint64_t first_step_;
  backend::queue& queue_;
  bool writes_files_;  // with several processes for one field, only in the first
  stepper stepper_;
  stopwatch files_, residuals_;
  double steps_before_s_ = 0, before_s_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace tilewise::hiperc
