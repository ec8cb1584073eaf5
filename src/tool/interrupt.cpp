// SPDX-License-Identifier: Apache-2.0
#include "tool/interrupt.hpp"

#include "backend/driver_call.hpp"
#include "base/lasting.hpp"
#include "io/unfinished.hpp"
#include "lab/bench/peer_call.hpp"
#include "tool/drivers/child.hpp"
#include "tool/output.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

namespace tilewise::cli {

namespace {

volatile std::sig_atomic_t requested = 0;
std::function<void()>& last_work = base::lasting([] { return std::function<void()>(); });

/// Removes half-written files and ends all writing.
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
    if (ending == SIGHUP && before == SIG_IGN) std::signal(ending, SIG_IGN);  // as nohup requires
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

namespace {

using std::chrono::milliseconds;

constexpr milliseconds tick(100), moment(1000);

std::mutex watched_mutex;
std::vector<std::string>& watched_names = base::lasting([] { return std::vector<std::string>(); });  // names of devices

std::string watched_devices() {
  const std::lock_guard lock(watched_mutex);
  std::string text;
  for (const std::string& name : watched_names) text += (text.empty() ? "" : " or ") + name;
  return text;
}

/// What the watchdog waits for. A driver's call within a peer's call counts as progress of the peer.
struct awaited {
  const char* call;  // of a driver; nullptr: none
  const registry::variant* peer;
  std::uint64_t number;  // counts the calls

  bool is_something() const { return call != nullptr || peer != nullptr; }
  std::string in_words() const { return call != nullptr ? watched_devices() + " was in " + call : peer->id() + " ran"; }
};

awaited look() {
  const backend::driver_call of_driver = backend::current_driver_call();
  const lab::peer_call of_peer = lab::current_peer_call();
  return {of_driver.text, of_peer.of, of_driver.number + of_peer.number};
}

[[noreturn]] void end_by_limit(const awaited& what, milliseconds limit) {
  const std::string seconds = " for " + std::to_string(limit.count() / 1000) + " s",
                    longer = ", or the work is long: --time-limit SECONDS waits longer";
  const std::string why = what.call != nullptr ? watched_devices() + " made no progress" + seconds + " in " +
                                                     what.call + "; the device or its driver hangs" + longer
                                               : what.peer->id() + " has not returned" + seconds +
                                                     "; this code of another library hangs" + longer +
                                                     ", and bench --isolate leaves it out";
  end_at_once(fail(name_of(errc::device_lost), exit_code::device_lost, why));
}

/// Counts ticks instead of reading the clock, since the clock continues while the tool is suspended.
[[noreturn]] void watch(milliseconds limit) {
  milliseconds waited(0);
  for (std::uint64_t number = 0;; waited += tick) {
    std::this_thread::sleep_for(tick);
    const awaited now = look();
    if (!now.is_something() || now.number != number) waited = milliseconds(0);
    number = now.number;
    if (!now.is_something()) continue;
    if (interrupt_requested() && waited >= moment) {
      note("tilewise: interrupted while " + now.in_words());
      end_at_once(exit_code::interrupted);
    }
    if (limit.count() != 0 && waited >= limit) end_by_limit(now, limit);
  }
}

}  // namespace

void watch_drivers(unsigned limit_s, const std::string& device) {
  static bool has_started = false;
  const std::lock_guard lock(watched_mutex);
  try {
    if (!has_started) std::thread(watch, std::chrono::seconds(limit_s)).detach();
  } catch (const std::system_error&) {
    throw error(errc::out_of_memory, "the system allows this process no thread that watches " +
                                         (device.empty() ? "other libraries" : "the driver of " + device) +
                                         "; end other processes, or raise their limit (`ulimit -u`, `ulimit -v`)");
  }
  has_started = true;
  if (!device.empty() && std::find(watched_names.begin(), watched_names.end(), device) == watched_names.end())
    watched_names.push_back(device);
}

}  // namespace tilewise::cli
