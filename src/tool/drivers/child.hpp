// SPDX-License-Identifier: Apache-2.0
// Runs this tool again as a child process with a time limit, so that a faulty driver crashes only the child. One child
// runs at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace tilewise::cli {

/// Time limits: for a driver that lists its devices, or a device that answers a probe without computing; and for a
/// whole probe. Compiling on a busy machine is slow but no hang: the programs of a probe have taken more than ten
/// seconds to build.
inline constexpr std::chrono::seconds child_limit{10}, computing_child_limit{60};

struct child_result {
  bool exited = false;  // otherwise it died of `signal`, or was ended by us if that is 0
  int status = 0;       // exit code
  int signal = 0;
  std::string out, err;                      // its output, at most 1 MiB each
  std::chrono::seconds limit = child_limit;  // the limit that it exceeded, if it was ended by us

  bool succeeded() const { return exited && status == 0; }
  bool crashed() const { return signal != 0; }
  bool timed_out() const { return !exited && signal == 0; }
};

/// How long this process has waited for a child. It is asked about ten times a second. If nobody asked for longer than
/// a second, this process was suspended and the child may have been too, so that interval counts as one second.
class patience {
 public:
  using clock = std::chrono::steady_clock;

  clock::duration used() {
    const clock::time_point now = clock::now();
    used_ += std::min<clock::duration>(now - asked_, std::chrono::seconds(1));
    asked_ = now;
    return used_;
  }

 private:
  clock::duration used_{0};
  clock::time_point asked_ = clock::now();
};

/// Runs /proc/self/exe with `arguments` and the additional environment variables. When the time is up, the child and
/// all that it started are killed. Throws `out_of_memory` if no process can be started.
child_result run_self(std::span<const std::string> arguments,
                      std::span<const std::pair<std::string, std::string>> environment = {});

/// The descriptor that a child has open besides the standard streams.
inline constexpr int descriptor_of_child = 3;

/// The same without a time limit: `goes_on` is called about ten times a second, and the child is ended when it returns
/// false. The child has a copy of `descriptor` as descriptor_of_child.
child_result run_self(std::span<const std::string> arguments, int descriptor,
                      const std::function<bool(pid_t child)>& goes_on);

/// The same with another program, and without a descriptor.
child_result run_program(const std::string& program, std::span<const std::string> arguments,
                         const std::function<bool(pid_t child)>& goes_on);

/// Kills the running child, if there is one, so that it writes no more. A signal handler may call it.
void end_child() noexcept;

/// The last line that the child printed on standard error, without the tool's name.
std::string last_words(const child_result& result);

/// "crashed with signal 11 (Segmentation fault)", "did not answer within 10 s" or "ended with exit code 3: <last
/// words>".
std::string explain(const child_result& result);

/// What a child found out about a device's arithmetic.
struct probe_result {
  bool answered = false;
  std::vector<std::string> findings;  // what the order cannot promise there, or why there is no answer
};
probe_result probe_device(const std::string& name);

/// What happened in a child that only lists the devices of a backend.
struct listing {
  std::string fault;         // what went wrong; empty if all is well
  std::vector<bool> is_cpu;  // for each device, by index
};
listing list_in_child(const std::string& backend,
                      std::span<const std::pair<std::string, std::string>> environment = {});

}  // namespace tilewise::cli
