// SPDX-License-Identifier: Apache-2.0
#include "tool/watch.hpp"

#include "backend/driver_call.hpp"
#include "base/lasting.hpp"
#include "lab/bench/peer_call.hpp"
#include "tool/exit_code.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"

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

/// What is waited for. A call of a driver within a peer's is that one's progress.
struct awaited {
  const char* call;  // of a driver; nullptr for none
  const registry::variant* peer;
  std::uint64_t number;  // of calls so far

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

/// Counts ticks instead of reading the clock, which runs on while the tool is suspended.
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
