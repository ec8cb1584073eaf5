#include "cli/interrupt.hpp"

#include <csignal>
#include <initializer_list>

#include <unistd.h>

namespace tilewise::cli {

namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void note_interrupt(int signal) {
  if (requested != 0) _exit(128 + signal);
  requested = 1;
}

}  // namespace

void take_interrupts() {
  for (const int ending : {SIGINT, SIGTERM}) std::signal(ending, note_interrupt);
}

bool interrupt_requested() { return requested != 0; }

}  // namespace tilewise::cli
