// SPDX-License-Identifier: Apache-2.0
#include "tool/interrupt.hpp"

#include "base/lasting.hpp"
#include "io/unfinished.hpp"
#include "tool/drivers/child.hpp"
#include "tool/output.hpp"

#include <csignal>
#include <initializer_list>

#include <unistd.h>

namespace tilewise::cli {

namespace {

volatile std::sig_atomic_t requested = 0;
std::function<void()>& last_work = base::lasting([] { return std::function<void()>(); });

/// Nothing half-written stays behind, and nobody writes any more.
void leave_nothing() {
  end_child();
  io::remove_unfinished();
}

extern "C" void end_by_signal(int signal) {
  leave_nothing();
  _exit(128 + signal);
}

extern "C" void note_interrupt(int signal) {
  if (requested != 0) end_by_signal(signal);
  requested = 1;
}

void handle_endings(void (*handler)(int)) {
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(ending, handler);
    if (ending == SIGHUP && before == SIG_IGN) std::signal(ending, SIG_IGN);  // as nohup wants it
  }
}

}  // namespace

void end_on_interrupts() {
  handle_endings(end_by_signal);
  for (const int other : {SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT})
    std::signal(other, end_by_signal);
  for (int real_time = SIGRTMIN; real_time <= SIGRTMAX; ++real_time) std::signal(real_time, end_by_signal);
}
void take_interrupts() { handle_endings(note_interrupt); }

bool interrupt_requested() { return requested != 0; }

void before_ending_at_once(std::function<void()> work) { last_work = std::move(work); }

void end_without_reader() {
  leave_nothing();
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  _exit(128 + SIGPIPE);
}

void end_at_once(exit_code code) {
  try {
    if (last_work) last_work();
  } catch (const std::exception& failure) {
    note(std::string("tilewise: ") + failure.what());
  }
  finish_output(code);
  leave_nothing();
  _exit(static_cast<int>(code));
}

}  // namespace tilewise::cli
