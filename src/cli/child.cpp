#include "cli/child.hpp"

#include <tilewise/error.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
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

/// The environment with the changes, as "NAME=value".
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

/// Between fork and exec only calls that are safe there; all memory was allocated before.
[[noreturn]] void become(char** argv, char** environment, const pipe_ends& out, const pipe_ends& err) {
  setpgid(0, 0);                     // so that the limit also ends what it starts
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // and so that it does not outlive us
  signal(SIGPIPE, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out.end[1], STDOUT_FILENO);
  dup2(err.end[1], STDERR_FILENO);
  execve("/proc/self/exe", argv, environment);
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

/// Reads both streams until they end; false if time runs out first.
bool collect(pipe_ends& out, pipe_ends& err, child_result& result, std::chrono::steady_clock::time_point deadline) {
  while (out.end[0] >= 0 || err.end[0] >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> waiting{pollfd{out.end[0], POLLIN, 0}, pollfd{err.end[0], POLLIN, 0}};
    poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    if (waiting[0].revents != 0 && !take(out.end[0], result.out)) out.close_end(0);
    if (waiting[1].revents != 0 && !take(err.end[0], result.err)) err.close_end(0);
  }
  return true;
}

/// Waits for the end of the process itself; it may have closed its streams and kept running.
bool ends_before(pid_t child, int& status, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    if (waitpid(child, &status, WNOHANG) == child) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    usleep(1000);
  }
}

}  // namespace

child_result run_self(std::span<const std::string> arguments,
                      std::span<const std::pair<std::string, std::string>> environment,
                      std::chrono::milliseconds limit) {
  std::vector<std::string> words{"tilewise"}, variables = changed_environment(environment);
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  pipe_ends out, err;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const pid_t child = fork();
  if (child < 0) throw error(errc::io, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(const_cast<char**>(argv.data()), const_cast<char**>(envp.data()), out, err);
  out.close_end(1), err.close_end(1);

  child_result result;
  int status = 0;
  if (!collect(out, err, result, deadline) || !ends_before(child, status, deadline)) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);  // in case it has not created its group yet
    waitpid(child, &status, 0);
    return result;
  }
  result.exited = WIFEXITED(status);
  result.status = result.exited ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

std::string explain(const child_result& result) {
  if (result.timed_out()) return "did not answer within " + std::to_string(child_limit.count()) + " s";
  if (!result.exited)
    return "crashed with signal " + std::to_string(result.signal) + " (" + strsignal(result.signal) + ")";
  std::string last = result.err.substr(0, result.err.find_last_not_of('\n') + 1);
  last = last.substr(last.find_last_of('\n') + 1);
  return "ended with exit code " + std::to_string(result.status) + (last.empty() ? "" : ": " + last);
}

}  // namespace tilewise::cli
