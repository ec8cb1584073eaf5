// SPDX-License-Identifier: Apache-2.0
// Where a data command runs if its options leave that open: by the measured figures of this machine, if there are any.
#pragma once

#include "registry/choose.hpp"
#include "tool/drivers/device_use.hpp"

namespace tilewise::cli {

struct placement {
  device_handle device;
  std::string reason;  // begins the sentence that says why; may be empty
};

/// Opens the device that the options name. What they leave open is predicted from the figures; without them it is the
/// best device, or the CPU for work that is done `while_reading`. With -v it is noted why figures were not used.
placement place(const registry::problem& p, const common_options& options, bool while_reading);

}  // namespace tilewise::cli
