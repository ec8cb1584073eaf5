// SPDX-License-Identifier: Apache-2.0
// What ends the tool early: Ctrl-C, a request to terminate, or a closed terminal. They end it at once; a command that
// can stop cleanly is asked by the first and ended by the second. The tool also ends if a driver or a peer does not
// return.
#pragma once

#include "tool/exit_code.hpp"

#include <functional>
#include <string>

namespace tilewise::cli {

/// From now on SIGINT, SIGTERM, SIGHUP and all other signals that would end a process, except crashes, end the tool and
/// leave no half-written file.
void end_on_interrupts();
/// From now on the first SIGINT, SIGTERM or SIGHUP only makes interrupt_requested() true.
void take_interrupts();
bool interrupt_requested();

/// Ends the tool from any thread, since the other threads may be in a driver that does not return. Leaves no
/// half-written file.
[[noreturn]] void end_at_once(exit_code code);
/// Ends the tool silently, as SIGPIPE ends a program. Leaves no half-written file.
[[noreturn]] void end_without_reader();
/// Sets what end_at_once does first.
void before_ending_at_once(std::function<void()> last_work);

/// From now on, if one call of a driver or a peer takes longer than `limit_s` seconds, the tool ends with the code of a
/// lost device; 0 is no limit. After an interrupt a call has only a moment left. What was already written is kept.
/// Messages name `device`; it is empty if the device has no driver, and then only peers are watched.
void watch_drivers(unsigned limit_s, const std::string& device);

}  // namespace tilewise::cli
