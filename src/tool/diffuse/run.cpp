// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/run.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::hiperc {

registry::problem problem_between_outputs(const parameters& p, dtype type) {
  return p.problem(std::min(p.ns, p.nc), type);
}

beginning begin_run(const parameters& p, dtype type, const output_folder& folder, bool resume) {
  if (!resume) {
    folder.require_no_progress();
    return {start_of(p, type), {}};
  }
  std::vector<runlog_row> rows;
  snapshot shot = folder.read_checkpoint(p, type, rows);
  if (shot.step > p.ns)
    throw error(errc::invalid_argument, "the checkpoint is of step " + std::to_string(shot.step) + ", beyond the " +
                                            std::to_string(p.ns) + " asked for; give --steps");
  return {std::move(shot), std::move(rows)};
}

run::run(beginning from, output_folder folder, const registry::choice& how, backend::queue& queue)
    : folder_(std::move(folder)),
      rows_(std::move(from.rows)),
      first_step_(from.shot.step),
      queue_(queue),
      writes_files_(writes_files(queue)),
      stepper_(std::move(from.shot), how, queue) {
  if (rows_.empty()) return;
  steps_before_s_ = rows_.back().steps_s, files_.seconds = rows_.back().files_s;
  residuals_.seconds = rows_.back().residuals_s, before_s_ = rows_.back().all_s;
}

bool run::complete(const std::function<bool()>& goes_on) {
  const parameters& p = now().parameters;
  rows_.empty() ? write_output() : keep();
  for (bool more = true; more && now().step < p.ns;) {
    const std::uint64_t stop = std::min(p.ns, (now().step / p.nc + 1) * p.nc);
    more = stepper_.advance(stop, goes_on);
    if (now().step == stop) write_output();
  }
  if (now().step < p.ns) {
    if (writes_files_) folder_.write_checkpoint(now(), rows_);
    common_pace(queue_, {});  // so that no process ends the others before the checkpoint is written
    return false;
  }
  if (rows_.back().step != now().step) write_output();  // a resumed run with no steps left
  if (writes_files_) folder_.write_table(now());
  return true;
}

double run::seconds_left() const {
  const auto done = static_cast<double>(now().step - first_step_);
  const auto left = static_cast<double>(now().parameters.ns - now().step);
  return since_start_s() / done * left;
}

double run::since_start_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

/// Writes everything that the original writes between steps, and a checkpoint.
void run::write_output() {
  double residual = 0;
  if (writes_files_) {
    residuals_.time([&] { residual = residual_of(now()); });
    files_.time([&] { folder_.write_pictures(now()); });
  }
  rows_.push_back({now().step, now().time, residual, steps_before_s_ + stepper_.seconds(), files_.seconds,
                   residuals_.seconds, before_s_ + since_start_s()});
  keep();
}

/// Writes what a resumed run needs. A run begins with this, so that a folder that cannot be written is reported before
/// any step.
void run::keep() {
  if (!writes_files_) return;
  files_.time([&] {
    folder_.write_runlog(rows_);
    folder_.write_checkpoint(now(), rows_);
  });
}

}  // namespace tilewise::hiperc
