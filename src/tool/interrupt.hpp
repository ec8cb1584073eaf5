// SPDX-License-Identifier: Apache-2.0
// What ends the tool early. Ctrl-C, a request to terminate, and a terminal that goes away end it at once or, for
// commands that can stop cleanly, the first asks and the second ends it; and it ends if a driver or a peer does not
// return.
#pragma once

#include "tool/exit_code.hpp"

#include <functional>
#include <string>

namespace tilewise::cli {

/// SIGINT, SIGTERM, SIGHUP and all others that would end a process, but for crashes, end the tool and leave nothing
/// half-written.
void end_on_interrupts();
/// From now on the first of SIGINT, SIGTERM and SIGHUP only makes interrupt_requested() true.
void take_interrupts();
bool interrupt_requested();

/// From any thread, since the others may be in a driver and not come back; nothing half-written stays.
[[noreturn]] void end_at_once(exit_code code);
/// As SIGPIPE ends a program, silently; nothing half-written stays.
[[noreturn]] void end_without_reader();
/// What end_at_once does first.
void before_ending_at_once(std::function<void()> last_work);

/// From now on the tool ends, with the code of a lost device, if one call of a driver or of a peer takes longer than
/// `limit_s` seconds; 0 is no limit. After an interrupt a call has only a moment. What was written so far stays.
/// `device` is one that messages may name; empty for one without a driver, where only peers are watched.
void watch_drivers(unsigned limit_s, const std::string& device);

}  // namespace tilewise::cli
