// SPDX-License-Identifier: Apache-2.0
#include "tool/drivers/child.hpp"

#include <tilewise/error.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::cli {

namespace {

constexpr std::size_t most_output = 1 << 20;

/// A pipe whose ends close themselves.
struct pipe_ends {
  std::array<int, 2> end{-1, -1};

  pipe_ends() {
    if (pipe2(end.data(), O_CLOEXEC) != 0)
      throw error(errc::io, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  pipe_ends(const pipe_ends&) = delete;
  ~pipe_ends() { close_end(0), close_end(1); }
  void close_end(std::size_t i) {
    if (end[i] >= 0) close(end[i]);
    end[i] = -1;
  }
};

/// The environment with these changes, as "NAME=value".
std::vector<std::string> changed_environment(std::span<const std::pair<std::string, std::string>> changes) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    bool replaced = false;
    for (const auto& [name, value] : changes) replaced |= text.starts_with(name + "=");
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Runs between fork and exec, so it makes only calls that are safe there. All memory was allocated before.
[[noreturn]] void become(const char* program, char** argv, char** environment, const pipe_ends& out,
                         const pipe_ends& err, int descriptor) {
  setpgid(0, 0);                     // the limit can then also end what it starts
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // so that it does not outlive this process
  signal(SIGPIPE, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out.end[1], STDOUT_FILENO);
  dup2(err.end[1], STDERR_FILENO);
  if (descriptor == descriptor_of_child)
    fcntl(descriptor, F_SETFD, 0);  // dup2 of a descriptor to itself keeps close-on-exec
  else if (descriptor >= 0)
    dup2(descriptor, descriptor_of_child);
  execve(program, argv, environment);
  _exit(127);
}

/// Reads what is available; false at the end of the stream.
bool take(int from, std::string& to) {
  char part[4096];
  const ssize_t got = read(from, part, sizeof part);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got > 0 && to.size() < most_output) to.append(part, static_cast<std::size_t>(got));
  return got > 0;
}

/// The child that is waited for; 0 if there is none.
std::atomic<pid_t> running{0};

void kill_with_all(pid_t child) noexcept {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);  // if it has not created its group yet
}

using watch = std::function<bool(pid_t)>;
constexpr int tick_ms = 100;

/// Reads both streams to their ends; false if `goes_on` ended it first.
bool collect(pid_t child, pipe_ends& out, pipe_ends& err, child_result& result, const watch& goes_on) {
  while (out.end[0] >= 0 || err.end[0] >= 0) {
    if (!goes_on(child)) return false;
    std::array<pollfd, 2> waiting{pollfd{out.end[0], POLLIN, 0}, pollfd{err.end[0], POLLIN, 0}};
    poll(waiting.data(), waiting.size(), tick_ms);
    if (waiting[0].revents != 0 && !take(out.end[0], result.out)) out.close_end(0);
    if (waiting[1].revents != 0 && !take(err.end[0], result.err)) err.close_end(0);
  }
  return true;
}

/// Waits until the process ends; it may have closed its streams and still run.
bool ends(pid_t child, int& status, const watch& goes_on) {
  while (waitpid(child, &status, WNOHANG) != child) {
    if (!goes_on(child)) return false;
    usleep(1000);
  }
  return true;
}

constexpr const char* self = "/proc/self/exe";

child_result run(const char* program, std::span<const std::string> arguments,
                 std::span<const std::pair<std::string, std::string>> environment, int descriptor,
                 const watch& goes_on) {
  std::vector<std::string> words{"tilewise"}, variables = changed_environment(environment);
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  pipe_ends out, err;
  const pid_t child = fork();
  if (child < 0)
    throw error(errc::out_of_memory, std::string("the system allows no further process: ") + std::strerror(errno) +
                                         "; end other processes, or raise their limit (`ulimit -u`)");
  if (child == 0)
    become(program, const_cast<char**>(argv.data()), const_cast<char**>(envp.data()), out, err, descriptor);
  running = child;
  out.close_end(1), err.close_end(1);

  child_result result;
  int status = 0;
  const bool ended = collect(child, out, err, result, goes_on) && ends(child, status, goes_on);
  running = 0;
  if (!ended) {
    kill_with_all(child);
    waitpid(child, &status, 0);
    return result;
  }
  result.exited = WIFEXITED(status);
  result.status = result.exited ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

/// Processor time of a process and of the children that it waited for, in clock ticks; 0 if unknown.
std::uint64_t processor_time(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string facts;
  std::getline(file, facts);
  std::istringstream fields(facts.substr(facts.rfind(')') + 1));  // after the name, which may contain anything
  constexpr int before = 11, counted = 4;  // user and system time, of the process and of its children
  std::string skipped;
  for (int i = 0; i < before; ++i) fields >> skipped;
  std::uint64_t sum = 0, one = 0;
  for (int i = 0; i < counted && fields >> one; ++i) sum += one;
  return sum;
}

}  // namespace

child_result run_self(std::span<const std::string> arguments,
                      std::span<const std::pair<std::string, std::string>> environment) {
  patience idle, whole;
  std::uint64_t computed = 0;
  bool is_over = false;
  child_result result = run(self, arguments, environment, -1, [&](pid_t child) {
    if (const std::uint64_t now = processor_time(child); now != computed) computed = now, idle = {};
    is_over = whole.used() >= computing_child_limit;
    return !is_over && idle.used() < child_limit;
  });
  if (is_over) result.limit = computing_child_limit;
  return result;
}

child_result run_self(std::span<const std::string> arguments, int descriptor,
                      const std::function<bool(pid_t child)>& goes_on) {
  return run(self, arguments, {}, descriptor, goes_on);
}

child_result run_program(const std::string& program, std::span<const std::string> arguments,
                         const std::function<bool(pid_t child)>& goes_on) {
  return run(program.c_str(), arguments, {}, -1, goes_on);
}

void end_child() noexcept {
  const pid_t child = running;
  if (child == 0) return;
  kill_with_all(child);
  // Waits only this long, since a driver may delay even the end of a killed process.
  for (int ms = 0; ms < tick_ms && waitpid(child, nullptr, WNOHANG) == 0; ++ms) usleep(1000);
}

std::string last_words(const child_result& result) {
  constexpr std::string_view ours = "tilewise: ";
  std::string last = result.err.substr(0, result.err.find_last_not_of('\n') + 1);
  last = last.substr(last.find_last_of('\n') + 1);
  return last.starts_with(ours) ? last.substr(ours.size()) : last;
}

std::string explain(const child_result& result) {
  if (result.timed_out()) return "did not answer within " + std::to_string(result.limit.count()) + " s";
  if (!result.exited)
    return "crashed with signal " + std::to_string(result.signal) + " (" + strsignal(result.signal) + ")";
  const std::string last = last_words(result);
  return "ended with exit code " + std::to_string(result.status) + (last.empty() ? "" : ": " + last);
}

}  // namespace tilewise::cli
