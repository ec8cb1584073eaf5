// SPDX-License-Identifier: Apache-2.0
// Steps the field of the diffusion benchmark from one output to the next: on a device, or in bands that pass through
// the device if the field does not fit.
#pragma once

#include "backend/backend.hpp"
#include "registry/choose.hpp"
#include "tool/diffuse/field.hpp"

#include <functional>

namespace tilewise::hiperc {

class stepper {
 public:
  /// Uploads the field if it fits. `how` must be chosen for the field on the queue's device; its number of steps may
  /// differ.
  stepper(snapshot start, const registry::choice& how, backend::queue& queue);

  /// Steps to `stop`, in parts of 0.1 to 0.4 s. After each part it calls `goes_on`, and ends early if that returns
  /// false in any process. Returns the last answer.
  bool advance(std::uint64_t stop, const std::function<bool()>& goes_on);

  /// The state after the last step taken. During `goes_on` all but the field is up to date.
  const snapshot& now() const { return reached_; }
  /// The time of all steps taken, without transfers unless they are part of a step.
  double seconds() const { return seconds_; }

 private:
  void take(std::uint64_t steps);
  std::uint64_t next_part(std::uint64_t last, double taken_s) const;
  void step_on_device(const registry::problem& p);
  void step_on_host(const registry::problem& p);

  snapshot reached_;
  registry::choice how_;
  backend::queue& queue_;
  bool is_on_device_;
  backend::buffer first_, second_;  // empty if the field stays on the host
  backend::memory now_, next_;
  std::vector<std::byte> next_on_host_;
  std::uint64_t part_;
  double seconds_ = 0;
};

/// Whether this process writes the files. In a run of several processes, each has a rank of the group that steps the
/// field, and one of them writes.
bool writes_files(backend::queue& queue);

/// Whether and how a run goes on.
struct pace {
  std::uint64_t part;  // steps before the next question
  bool goes_on;
};
/// All processes must call it. Returns the pace of the first process; the run ends if any process wants that. Needed
/// because clocks and interrupts differ.
pace common_pace(backend::queue& queue, pace own);

}  // namespace tilewise::hiperc
