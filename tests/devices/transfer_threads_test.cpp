// SPDX-License-Identifier: Apache-2.0
// Large transfers on a machine of twelve processors that cannot start all threads: this program's own pthread_create
// refuses one of them, or all from some number on.
#include "backend/transfer_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace {

std::atomic<int> asked_for{0}, first_refused{0}, last_refused{0};

}  // namespace

extern "C" __attribute__((visibility("default"))) int get_nprocs() { return 12; }

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                                                                     void* (*begin)(void*), void* with) {
  static const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  const int number = ++asked_for;
  return number >= first_refused && number <= last_refused ? EAGAIN : next(thread, how, begin, with);
}

namespace tilewise::tests {

namespace {

using backend::memory;

constexpr int crew = 5;

void refuse(int first, int last) { asked_for = 0, first_refused = first, last_refused = last; }

/// A device whose memory is part of the host's.
class plain_lane final : public backend::lane {
 public:
  std::byte* buffer(unsigned turn) override { return buffer_[turn].data(); }
  bool reaches(const void*) const override { return false; }
  void send(unsigned, memory to, const void* host, std::uint64_t bytes) override {
    std::memcpy(to.as<void>(), host, bytes);
  }
  void fetch(unsigned, void* host, memory from, std::uint64_t bytes) override {
    std::memcpy(host, from.as<void>(), bytes);
  }
  void wait(unsigned) override {}

 private:
  std::array<std::vector<std::byte>, 2> buffer_{std::vector<std::byte>(buffer_bytes),
                                                std::vector<std::byte>(buffer_bytes)};
};

class TransferThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() != 12) GTEST_SKIP() << "the C++ library asks something else for processors";
    std::iota(from.begin(), from.end(), 3u);
    alarm(60);
  }
  void TearDown() override { refuse(0, 0), alarm(0); }

  void send() { team.send({there.data(), 0, bytes}, from.data(), bytes).wait(); }

  std::vector<std::uint32_t> from = std::vector<std::uint32_t>(5'000'011),
                             there = std::vector<std::uint32_t>(from.size());
  const std::uint64_t bytes = from.size() * 4;
  backend::transfer_team team{[] { return std::make_unique<plain_lane>(); }};
};

TEST_F(TransferThreads, AllOfThemAreMade) {
  refuse(0, 0);
  send();
  EXPECT_EQ(asked_for, crew);
}

/// The existing threads do all the work, and end with the team.
class FewTransferThreads : public TransferThreads, public testing::WithParamInterface<int> {};

TEST_P(FewTransferThreads, DoItAll) {
  refuse(GetParam() + 1, crew);
  send();
  EXPECT_EQ(asked_for, GetParam() + 1);
  EXPECT_TRUE(there == from);
}

INSTANTIATE_TEST_SUITE_P(Of, FewTransferThreads, testing::Range(1, crew));

TEST_F(TransferThreads, WithoutAnyATransferIsRefusedAndTheNextOneWorks) {
  refuse(1, 1);
  try {
    send();
    ADD_FAILURE() << "there was a thread";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory) << e.what();
    EXPECT_NE(std::string(e.what()).find("no thread for transfers"), std::string::npos) << e.what();
  }
  send();
  EXPECT_TRUE(there == from);
}

}  // namespace

}  // namespace tilewise::tests
