// SPDX-License-Identifier: Apache-2.0
// A run in several processes, each with a rank of the group that steps the field: what they must do alike.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::hiperc {

/// Whether this process is the one that writes the files.
bool writes_files(backend::queue& queue);

/// How a run goes on.
struct pace {
  std::uint64_t part;  // steps until it is asked again
  bool goes_on;
};
/// Together: the pace of the first process, which ends when any of them wants to. Clocks and interrupts differ.
pace common_pace(backend::queue& queue, pace own);

}  // namespace tilewise::hiperc
