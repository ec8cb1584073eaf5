// SPDX-License-Identifier: Apache-2.0
// Which calls wait for a queue's work. A marker on an OpenCL queue holds all later work until the test releases it.
#include "backend/group/device.hpp"
#include "backend/opencl/queue.hpp"
#include "opencl_fixture.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <dlfcn.h>

namespace tilewise::tests {
namespace {

template <class Function>
Function* of_loader(const char* name) {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

/// Holds back all work that the queue gets from now on, for a while.
class held_back {
 public:
  explicit held_back(backend::queue& q) {
    const cl_command_queue commands = static_cast<opencl::queue&>(q).commands();
    cl_context context = nullptr;
    cl_int status = CL_SUCCESS;
    opencl::cl().clGetCommandQueueInfo(commands, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
    const cl_event made = of_loader<decltype(clCreateUserEvent)>("clCreateUserEvent")(context, &status);
    event_ = opencl::event_handle(made);
    EXPECT_EQ(opencl::cl().clEnqueueMarkerWithWaitList(commands, 1, &made, nullptr), CL_SUCCESS);
    opencl::cl().clFlush(commands);
    release_ = std::jthread([this, made] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      goes_on_ = true;
      of_loader<decltype(clSetUserEventStatus)>("clSetUserEventStatus")(made, CL_COMPLETE);
    });
  }
  bool goes_on() const { return goes_on_; }

 private:
  opencl::event_handle event_;
  std::atomic<bool> goes_on_{false};
  std::jthread release_;
};

class QueueOrder : public opencl_device_test {
 protected:
  void SetUp() override {
    opencl_device_test::SetUp();
    if (!IsSkipped() && of_loader<decltype(clCreateUserEvent)>("clCreateUserEvent") == nullptr)
      GTEST_SKIP() << "OpenCL is in another library";
  }
};

/// Above and below the size that a driver copies alone.
constexpr std::uint64_t large = 1 << 20, small = 1000;

TEST_F(QueueOrder, WhatReadsOrWritesADevicesMemoryComesAfterItsWork) {
  const tilewise::device on = open("opencl:0");
  backend::queue& queue = on.implementation().queue();
  std::vector<float> values(large, 1.0f);
  const array<float> there = on.upload(values), empty = on.allocate<float>(0);
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"finish", [&] { on.finish(); }},
      {"a large upload", [&] { queue.upload(there.storage(), values.data(), large * sizeof(float)); }},
      {"a small upload", [&] { queue.upload(there.storage(), values.data(), small * sizeof(float)); }},
      {"a large download", [&] { queue.download(values.data(), there.storage(), large * sizeof(float)); }},
      {"a small download", [&] { queue.download(values.data(), there.storage(), small * sizeof(float)); }},
      {"a download of nothing", [&] { (void)empty.download(); }}};
  for (const auto& [name, call] : calls) {
    const held_back work(queue);
    call();
    EXPECT_TRUE(work.goes_on()) << name;
  }
}

TEST_F(QueueOrder, ADeviceThatNobodyHasAnyMoreHasEndedItsWork) {
  std::optional<tilewise::device> on = open("opencl:0");
  const held_back work(on->implementation().queue());
  on.reset();
  EXPECT_TRUE(work.goes_on());
}

TEST_F(QueueOrder, AGroupWaitsForEachRank) {
  for (const char* name : {"2*opencl:0", "cpu:serial+opencl:0", "opencl:0+cpu:serial"}) {
    const tilewise::device group = open(name);
    auto& ranks = backend::group::enter(group.implementation().queue());
    const array<float> empty = group.allocate<float>(0);
    const auto fails = [&] {
      ranks.on_each_rank([](const backend::group::rank& r) {
        if (r.queue().device().info().backend == "cpu" || r.index() == 0) throw error(errc::unsupported, "planted");
      });
    };
    for (const auto& member : backend::group::members_of(group.implementation())) {
      if (member->info().backend != "opencl") continue;
      const std::pair<const char*, std::function<void()>> calls[] = {
          {"finish", [&] { group.finish(); }},
          {"a download of nothing", [&] { (void)download_parts(empty); }},
          {"a failure", [&] { EXPECT_EQ(code_of(fails), errc::unsupported); }}};
      for (const auto& [what, call] : calls) {
        const held_back work(member->queue());
        call();
        EXPECT_TRUE(work.goes_on()) << name << ", " << what;
      }
    }
  }
}

}  // namespace
}  // namespace tilewise::tests
