// SPDX-License-Identifier: Apache-2.0
// The field of the diffusion benchmark, from one output to the next: on a device, or passing through it in bands where
// it does not fit.
#pragma once

#include "backend/backend.hpp"
#include "registry/choose.hpp"
#include "tool/diffuse/field.hpp"

#include <functional>

namespace tilewise::hiperc {

class stepper {
 public:
  /// Uploads the field, if it fits. `how` is a choice for it on the queue's device, with any number of steps.
  stepper(snapshot start, const registry::choice& how, backend::queue& queue);

  /// Up to step `stop`, in parts of 0.1 to 0.4 s; ends earlier if `goes_on` says so in any process, which is asked
  /// after each part. Returns what it said last.
  bool advance(std::uint64_t stop, const std::function<bool()>& goes_on);

  /// As of the last step taken; within `goes_on`, that holds for all but the field.
  const snapshot& now() const { return reached_; }
  /// Of all steps taken, without transfers unless they are part of a step.
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
  backend::buffer first_, second_;  // empty where the field stays on the host
  backend::memory now_, next_;
  std::vector<std::byte> next_on_host_;
  std::uint64_t part_;
  double seconds_ = 0;
};

/// Of a run in several processes, each with a rank of the group that steps the field:
/// whether this process is the one that writes the files.
bool writes_files(backend::queue& queue);

/// How a run goes on.
struct pace {
  std::uint64_t part;  // steps until it is asked again
  bool goes_on;
};
/// Together: the pace of the first process, which ends when any of them wants to. Clocks and interrupts differ.
pace common_pace(backend::queue& queue, pace own);

}  // namespace tilewise::hiperc
