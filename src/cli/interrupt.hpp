// Ctrl-C for commands that can end in order: the first asks, the second ends the tool at once.
#pragma once

namespace tilewise::cli {

/// From now on the first SIGINT or SIGTERM only makes interrupt_requested() true.
void take_interrupts();
bool interrupt_requested();

}  // namespace tilewise::cli
