// SPDX-License-Identifier: Apache-2.0
// Ends the tool if a driver or a peer does not return: after a time limit, or after Ctrl-C.
#pragma once

#include <string>

namespace tilewise::cli {

/// From now on the tool ends, with the code of a lost device, if one call of a driver or of a peer takes longer than
/// `limit_s` seconds; 0 is no limit. After an interrupt a call has only a moment. What was written so far stays.
/// `device` is one that messages may name; empty for one without a driver, where only peers are watched.
void watch_drivers(unsigned limit_s, const std::string& device);

}  // namespace tilewise::cli
