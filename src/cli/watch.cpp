// SPDX-License-Identifier: Apache-2.0
#include "cli/watch.hpp"

#include "backend/driver_call.hpp"
#include "base/lasting.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilewise::cli {

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

[[noreturn]] void end_by_limit(const char* call, milliseconds limit) {
  end_at_once(fail(name_of(errc::device_lost), exit_code::device_lost,
                   watched_devices() + " made no progress for " + std::to_string(limit.count() / 1000) + " s in " +
                       call +
                       "; the device or its driver hangs, or the work is long: --time-limit SECONDS waits longer"));
}

[[noreturn]] void end_by_interrupt(const char* call) {
  note("tilewise: interrupted while " + watched_devices() + " was in " + call);
  end_at_once(exit_code::interrupted);
}

/// Counts ticks instead of reading the clock, which runs on while the tool is suspended.
[[noreturn]] void watch(milliseconds limit) {
  milliseconds waited(0);
  for (std::uint64_t number = 0;; waited += tick) {
    std::this_thread::sleep_for(tick);
    const backend::driver_call now = backend::current_driver_call();
    if (now.text == nullptr || now.number != number) waited = milliseconds(0);
    number = now.number;
    if (now.text == nullptr) continue;
    if (interrupt_requested() && waited >= moment) end_by_interrupt(now.text);
    if (limit.count() != 0 && waited >= limit) end_by_limit(now.text, limit);
  }
}

}  // namespace

void watch_drivers(unsigned limit_s, const std::string& device) {
  const std::lock_guard lock(watched_mutex);
  try {
    if (watched_names.empty()) std::thread(watch, std::chrono::seconds(limit_s)).detach();
  } catch (const std::system_error&) {
    throw error(errc::out_of_memory, "the system allows this process no thread that watches the driver of " + device +
                                         "; end other processes, or raise their limit (`ulimit -u`, `ulimit -v`)");
  }
  if (std::find(watched_names.begin(), watched_names.end(), device) == watched_names.end())
    watched_names.push_back(device);
}

}  // namespace tilewise::cli
