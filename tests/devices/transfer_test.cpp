// SPDX-License-Identifier: Apache-2.0
// Large transfers by several threads, and problems that are computed in pieces on a device with less memory than they
// need (TILEWISE_DEVICE_MEMORY, which CMakeLists.txt sets for this file's tests).
#include "backend/transfer_team.hpp"
#include "divide/pieces.hpp"
#include "small_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <thread>

#include <unistd.h>

namespace tilewise::tests {

namespace {

using backend::lane;
using backend::memory;
using backend::transfer_team;

/// A device whose memory is part of the host's. Copies happen as late as allowed, when they are waited for, and after a
/// delay, which is short for copies to the device.
class late_lane final : public lane {
 public:
  late_lane(std::atomic<int>& copies, int fails_at, bool pinned, std::chrono::milliseconds delay = {})
      : copies_(copies), fails_at_(fails_at), pinned_(pinned), delay_(delay) {}
  bool is_pinned() const override { return pinned_; }
  std::byte* buffer(unsigned turn) override { return buffer_[turn].data(); }
  bool reaches(const void*) const override { return false; }
  void send(unsigned turn, memory to, const void* host, std::uint64_t bytes) override {
    pending_[turn] = {to.as<void>(), host, bytes, delay_ / 10};
  }
  void fetch(unsigned turn, void* host, memory from, std::uint64_t bytes) override {
    pending_[turn] = {host, from.as<void>(), bytes, delay_};
  }
  void wait(unsigned turn) override {
    if (++copies_ == fails_at_) throw error(errc::device_lost, "the link is cut");
    std::this_thread::sleep_for(pending_[turn].delay);
    std::memcpy(pending_[turn].to, pending_[turn].from, pending_[turn].bytes);
  }

 private:
  struct copy {
    void* to;
    const void* from;
    std::uint64_t bytes;
    std::chrono::milliseconds delay;
  };
  std::atomic<int>& copies_;
  int fails_at_;
  bool pinned_;
  std::chrono::milliseconds delay_;
  std::array<std::vector<std::byte>, 2> buffer_{std::vector<std::byte>(buffer_bytes),
                                                std::vector<std::byte>(buffer_bytes)};
  std::array<copy, 2> pending_{};
};

struct late_team {
  explicit late_team(int fails_at = 0, bool pinned = true, std::chrono::milliseconds delay = {})
      : team([=, this] { return std::make_unique<late_lane>(copies, fails_at, pinned, delay); }) {}
  std::atomic<int> copies{0};
  transfer_team team;
};

/// The queue of such a device. Work is done when it is waited for, and freed memory is the next to be allocated.
class late_queue final : public backend::queue {
 public:
  using queue::queue;
  memory allocate(std::uint64_t bytes) override {
    for (auto at = free_.begin(); at != free_.end(); ++at)
      if (const memory again = *at; again.bytes == bytes) return free_.erase(at), again;
    return {blocks_.emplace_back(bytes).data(), 0, bytes};
  }
  void release(memory what) noexcept override { free_.push_back(what); }
  memory wrap(void* native, std::uint64_t bytes) override { return {native, 0, bytes}; }
  void upload(memory to, const void* from, std::uint64_t bytes) override {
    finish();
    std::memcpy(to.as<void>(), from, bytes);
  }
  void download(void* to, memory from, std::uint64_t bytes) override {
    finish();
    std::memcpy(to, from.as<void>(), bytes);
  }
  void copy(memory to, memory from, std::uint64_t bytes) override {
    work_.push_back([=] { std::memcpy(to.as<void>(), from.as<void>(), bytes); });
  }
  void finish() override {
    for (const auto& one : work_) one();
    work_.clear();
  }
  transfer_team* transfers() override { return &late_.team; }
  void start_clock() override {}
  double stop_clock() override { return 0; }

 private:
  std::deque<std::vector<std::byte>> blocks_;
  std::vector<memory> free_;
  std::vector<std::function<void()>> work_;
  late_team late_{0, true, std::chrono::milliseconds(20)};
};

std::vector<std::uint32_t> counted(std::size_t count, std::uint32_t first) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

memory of(std::vector<std::uint32_t>& values) { return {values.data(), 0, values.size() * 4}; }

TEST(Transfers, WithoutPinnedMemoryArriveAndSaySo) {
  for (const bool pinned : {true, false}) {
    late_team late(0, pinned);
    const std::vector<std::uint32_t> from = counted(1'000'003, 5);
    std::vector<std::uint32_t> there(from.size());
    EXPECT_FALSE(late.team.lacked_pinned_memory());
    late.team.send(of(there), from.data(), from.size() * 4).wait();
    EXPECT_EQ(there, from);
    EXPECT_EQ(late.team.lacked_pinned_memory(), !pinned);
  }
}

TEST(Transfers, SeveralAtOnceArriveWhole) {
  late_team late;
  // The last one is downloaded past the caches.
  const std::vector<std::size_t> sizes{0, 1, 3, 65536, 65537, 1000003, 5000011, 9000011};
  std::vector<std::vector<std::uint32_t>> from, there, back;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    from.push_back(counted(sizes[i], static_cast<std::uint32_t>(i) << 24));
    there.emplace_back(sizes[i]);
    back.emplace_back(sizes[i]);
  }
  std::vector<backend::transfer> under_way;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    under_way.push_back(late.team.send(of(there[i]), from[i].data(), sizes[i] * 4));
  for (backend::transfer& one : under_way) one.wait();
  under_way.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    under_way.push_back(late.team.fetch(back[i].data(), of(there[i]), sizes[i] * 4));
  for (backend::transfer& one : under_way) one.wait();
  EXPECT_TRUE(there == from);
  EXPECT_TRUE(back == from);
}

/// An error may free the memory that a transfer still reads from or writes to.
TEST(Transfers, OneThatIsGivenUpIsOverBeforeItsMemoryGoes) {
  late_team late;
  std::vector<std::uint32_t> there = counted(5'000'011, 7), back(there.size());
  static_cast<void>(late.team.fetch(back.data(), of(there), there.size() * 4));
  EXPECT_TRUE(back == there);
}

TEST(Transfers, OneThatIsGivenUpForAnotherIsOverBeforeItsMemoryGoes) {
  late_team late;
  std::vector<std::uint32_t> there = counted(5'000'011, 7), back(there.size());
  backend::transfer one = late.team.fetch(back.data(), of(there), there.size() * 4);
  one = backend::transfer();
  EXPECT_TRUE(back == there);
}

/// Its first part fails while the others are still copied.
TEST(Transfers, OneThatIsGivenUpForAFailureIsOverBeforeItsMemoryGoes) {
  for (const bool is_waited_for : {true, false}) {
    std::vector<std::uint32_t> there = counted(5'000'011, 7), back(there.size());
    {
      late_team late(1, true, std::chrono::milliseconds(50));
      backend::transfer one = late.team.fetch(back.data(), of(there), there.size() * 4);
      if (is_waited_for) {
        EXPECT_THROW(one.wait(), error);
      }
      one = backend::transfer();
      std::fill(back.begin(), back.end(), 0);  // as the memory's next owner may do
    }                                          // all threads have ended
    EXPECT_EQ(std::count(back.begin(), back.end(), 0u), std::ssize(back)) << is_waited_for;
  }
}

TEST(Transfers, RowsThatLieApartLeaveWhatIsBetweenThem) {
  late_team late;
  struct rows_apart {
    std::uint64_t rows, columns, stride;  // elements
  };
  for (const rows_apart s : {rows_apart{1, 7, 9},
                             {3, 1, 2},
                             {1000, 1, 1000},
                             {7, 300007, 300010},
                             {2000, 701, 1001},
                             {7, 1300007, 1300010}}) {
    const std::vector<std::uint32_t> from = counted(s.rows * s.stride, 1);
    std::vector<std::uint32_t> there(s.rows * s.columns), back(from.size(), 7), expected(from.size(), 7);
    for (std::uint64_t row = 0; row < s.rows; ++row)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * s.stride), s.columns,
                  expected.begin() + static_cast<std::ptrdiff_t>(row * s.stride));
    const backend::host_rows rows{s.columns * 4, s.rows, s.stride * 4};
    late.team.send(of(there), from.data(), rows).wait();
    EXPECT_EQ(there.back(), from[(s.rows - 1) * s.stride + s.columns - 1]) << s.rows;
    late.team.fetch(back.data(), of(there), rows).wait();
    EXPECT_TRUE(back == expected) << s.rows;
  }
}

TEST(Transfers, AFailureIsThrownWhereItsTransferIsWaitedFor) {
  late_team late(3);
  std::vector<std::uint32_t> from = counted(8000000, 1), there(from.size());
  backend::transfer cut = late.team.send(of(there), from.data(), from.size() * 4);
  EXPECT_THROW(cut.wait(), error);
  late.team.send(of(there), from.data(), from.size() * 4).wait();
  EXPECT_TRUE(there == from);
}

/// As many failures as there are threads, and none ends a thread. The last one would wait for an ended thread for ever.
TEST(Transfers, OnesThatCannotBeginFailAndTheNextOneWorks) {
  constexpr int most_threads = 9;
  std::atomic<int> opened{0}, copies{0};
  transfer_team team([&]() -> std::unique_ptr<lane> {
    if (opened++ < most_threads) throw error(errc::out_of_memory, "there is no lane to be had here");
    return std::make_unique<late_lane>(copies, 0, true);
  });
  std::vector<std::uint32_t> from = counted(1000, 1), there(from.size());
  alarm(60);
  for (int i = 0; i < most_threads; ++i)
    EXPECT_EQ(code_of([&] { team.send(of(there), from.data(), from.size() * 4).wait(); }), errc::out_of_memory);
  team.send(of(there), from.data(), from.size() * 4).wait();
  alarm(0);
  EXPECT_TRUE(there == from);
}

TEST(Transfers, WhatOverlapsIsTimedOnce) {
  using std::chrono::nanoseconds;
  const backend::travel_clock::time start{nanoseconds(1000)};
  backend::travel_clock clock;
  clock.add(start, start + nanoseconds(10));
  clock.add(start + nanoseconds(5), start + nanoseconds(12));
  clock.add(start + nanoseconds(30), start + nanoseconds(40));
  EXPECT_DOUBLE_EQ(clock.ns(), 22);
}

TEST(Transfers, EachDirectionIsTimed) {
  std::atomic<int> copies{0};
  transfer_team team([&] { return std::make_unique<late_lane>(copies, 0, true); });
  std::vector<std::byte> here(1 << 20), there(1 << 20);
  const memory device{there.data(), 0, there.size()};
  team.send(device, here.data(), here.size()).wait();
  EXPECT_GT(team.sent_ns(), 0);
  EXPECT_EQ(team.fetched_ns(), 0);
  team.fetch(here.data(), device, here.size()).wait();
  EXPECT_GT(team.fetched_ns(), 0);
}

/// A transfer begins to write after the device's earlier work on that memory, and finds the data that it reads.
TEST(Transfers, OnesOfADeviceFollowItsWork) {
  for (const device& on : devices()) {
    backend::queue& queue = on.implementation().queue();
    for (const std::ptrdiff_t count : {100'000, 300'000}) {  // by the driver alone, and by several threads
      const std::uint64_t bytes = count * 4;
      const std::vector<std::uint32_t> first = counted(count, 1), second = counted(count, 7);
      const backend::buffer a(queue, bytes), b(queue, bytes);
      std::vector<std::uint32_t> got(count);
      const auto copy_again_and_again = [&] {
        for (int i = 0; i < 200; ++i) queue.copy(b, a, bytes);
      };
      queue.upload(a, first.data(), bytes);
      copy_again_and_again();
      queue.upload(a, second.data(), bytes);
      queue.download(got.data(), b, bytes);
      EXPECT_TRUE(got == first) << on.name() << ", " << count << ": overwritten before it was copied";
      copy_again_and_again();
      const std::uint64_t half = bytes / 2;
      queue.copy(backend::memory(b).at(0, half), backend::memory(a).at(half, half), half);
      queue.download(got.data(), b, bytes);
      EXPECT_TRUE(std::equal(got.begin(), got.begin() + count / 2, second.begin() + count / 2))
          << on.name() << ", " << count << ": downloaded before it was copied";
    }
  }
}

/// Neither is what used their memory before: all work and transfers happen as late as allowed.
TEST(Pieces, NoneIsOverwrittenOnItsWay) {
  constexpr std::uint64_t count = 9, bytes = 4000;
  const device cpu = open("cpu");
  late_queue queue(cpu.implementation());
  const std::vector<std::uint32_t> in = counted(count * bytes / 4, 1), before = counted(bytes / 4, 1 << 30);
  std::vector<std::uint32_t> out(in.size()), kept(before.size());
  {
    const backend::buffer used(queue, bytes);
    queue.upload(used, before.data(), bytes);
    queue.copy(of(kept), used, bytes);
  }
  const std::array<const void*, 1> from{in.data()};
  const std::array<void*, 1> to{out.data()};
  divide::run_pieces(
      queue, {from, to}, count,
      [](std::uint64_t i) {
        divide::piece what;
        what.in[0] = what.out[0] = {i * bytes, bytes};
        return what;
      },
      [&](std::uint64_t, const registry::bindings& where) { queue.copy(where.out[0], where.in[0], bytes); });
  EXPECT_TRUE(kept == before) << "what used the memory before";
  EXPECT_TRUE(out == in);
}

TEST(Pieces, Scan) {
  for (const std::size_t n : {std::size_t{262144}, std::size_t{1048579}}) {
    const std::vector<float> x = rough(n);
    expect_bits_of_cpu([&](const device& on) { return inclusive_scan(x, {.device = on}); });
    expect_bits_of_cpu(
        [&](const device& on) { return exclusive_scan(x, {.op = op::sum, .init = 3.5f, .device = on}); });
    expect_bits_of_cpu([&](const device& on) {
      std::vector<float> in_place = x;
      inclusive_scan(in_place, in_place, {.op = op::max, .device = on});
      return in_place;
    });
  }
}

TEST(Pieces, Reduce) {
  for (const std::size_t n : {std::size_t{524288}, std::size_t{1500007}}) {
    const std::vector<float> x = rough(n);
    expect_bits_of_cpu([&](const device& on) {
      return std::vector{reduce(x, {.device = on}), reduce(x, {.init = -1e9f, .device = on}),
                         reduce(x, {.op = op::min, .device = on})};
    });
  }
}

/// From infinities in different pieces, or in the last piece and in the value that the call begins with.
TEST(Pieces, NansThatComeUpBetweenThem) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x(1500007, 1.0f);
  x.back() = infinity;
  for (const float first : {1.0f, -infinity}) {
    x.front() = first;
    for (const float init : {0.0f, -infinity}) {
      expect_bits_of_cpu([&](const device& on) { return std::vector{reduce(x, {.init = init, .device = on})}; });
      expect_bits_of_cpu([&](const device& on) { return inclusive_scan(x, {.init = init, .device = on}); });
    }
  }
}

TEST(Pieces, MatrixProducts) {
  const std::vector<float> a = rough(2111 * 507), b = rough(500 * 300), x = rough(500);
  for (const matrix_layout of_a : {matrix_layout(2111, 500), matrix_layout(2111, 500, 507)})
    expect_bits_of_cpu([&](const device& on) { return matvec(a, of_a, x, {.device = on}); });
  expect_bits_of_cpu([&](const device& on) { return matmul(a, {2111, 500}, b, {500, 300}, {.device = on}); });
}

TEST(Pieces, Convolutions) {
  const std::vector<float> image = rough(1501 * 700), mask = rough(7 * 5);
  for (const border edge : {border::valid, border::zero})
    expect_bits_of_cpu([&](const device& on) {
      return convolve(image, {1501, 700}, mask, {7, 5}, {.border = edge, .device = on});
    });
}

TEST(Pieces, WhatCannotBeCutAndDoesNotFitIsRefused) {
  const std::vector<float> keys = rough(2000000);  // twice the device's memory
  for (const device& on : devices()) {
    if (on.info().backend != "opencl" && on.info().backend != "cuda") continue;
    if (on.info().memory > 4 << 20) GTEST_SKIP() << "TILEWISE_DEVICE_MEMORY=4M limits the memory";
    EXPECT_EQ(code_of([&] { (void)polymul(keys, keys, {.device = on}); }), errc::out_of_memory) << on.name();
  }
}

TEST(Pieces, TheLimitHoldsForAllMemoryTogether) {
  for (const device& on : devices()) {
    if (on.info().backend == "cpu") continue;
    EXPECT_LE(on.info().max_allocation, on.info().memory) << on.name();
    {
      const array<float> most = on.allocate<float>(on.info().memory / 16 * 3);
      EXPECT_EQ(code_of([&] { (void)on.allocate<float>(on.info().memory / 16 * 3); }), errc::out_of_memory)
          << on.name();
    }
    EXPECT_NO_THROW((void)on.allocate<float>(on.info().memory / 16 * 2)) << on.name();  // of another size
  }
}

}  // namespace

}  // namespace tilewise::tests
