// SPDX-License-Identifier: Apache-2.0
// What Ctrl-C and a closed terminal do to a command that can end cleanly, and what else ends the tool.
#include "tool/interrupt.hpp"
#include "backend/driver_call.hpp"
#include "io/replacement_file.hpp"
#include "scratch_folder.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

TEST(InterruptDeathTest, TheFirstAsksAndTheSecondEndsWithNothingHalfWritten) {
  const scratch_folder scratch;
  const std::filesystem::path& folder = scratch.path();
  const auto interrupted_twice = [&] {
    cli::end_on_interrupts();
    cli::take_interrupts();
    const io::replacement_file half_written(folder / "y.npy");
    std::raise(SIGHUP);
    if (cli::interrupt_requested()) std::raise(SIGINT);
  };
  EXPECT_EXIT(interrupted_twice(), testing::ExitedWithCode(128 + SIGINT), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(InterruptDeathTest, NohupIsObeyed) {
  const auto hung_up = [] {
    std::signal(SIGHUP, SIG_IGN);
    cli::end_on_interrupts();
    std::raise(SIGHUP);
    cli::take_interrupts();
    std::raise(SIGHUP);
    _exit(cli::interrupt_requested() ? 1 : 0);
  };
  EXPECT_EXIT(hung_up(), testing::ExitedWithCode(0), "");
}

/// The limit is for one call: many short calls may take longer together. On a busy machine no single call comes near
/// it.
TEST(InterruptDeathTest, TheLimitIsForEachCallOfADriver) {
  const auto busy = [] {
    cli::watch_drivers(3, "a device");
    for (int i = 0; i < 40; ++i) backend::during("a call", [] { return usleep(100'000); });
    _exit(0);
  };
  EXPECT_EXIT(busy(), testing::ExitedWithCode(0), "");
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string facts;
  std::getline(file, facts);
  return facts.find(") T ") != facts.npos;
}

/// Suspended by Ctrl-Z, or with a whole container, for longer than the limit; it uses little of the limit otherwise.
TEST(InterruptDeathTest, TheLimitDoesNotRunWhileTheToolIsSuspended) {
  const auto suspended = [] {
    const pid_t tool = getpid();
    if (fork() == 0) {
      while (getppid() == tool && !is_stopped(tool)) usleep(10'000);
      sleep(4);
      _exit(kill(tool, SIGCONT));
    }
    cli::watch_drivers(3, "a device");
    backend::during("a call", [] { return usleep(300'000), std::raise(SIGSTOP), usleep(300'000); });
    _exit(0);
  };
  EXPECT_EXIT(suspended(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tilewise::tests
