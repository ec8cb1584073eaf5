// SPDX-License-Identifier: Apache-2.0
// Missing OpenCL drivers, and a driver of which each call fails.
#include "cache_fixture.hpp"
#include "faults/failing_calls.hpp"
#include "opencl_fixture.hpp"

#include <cstdio>
#include <filesystem>

#include <dlfcn.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

/// Runs tests of this program in a separate process, since a driver is loaded only once. Returns the output; `ok` is
/// whether all passed.
std::string run_apart(const std::string& variables, const std::string& filter, bool& ok) {
  const std::string command = variables + " '" + fs::read_symlink("/proc/self/exe").string() +
                              "' --gtest_also_run_disabled_tests --gtest_filter=" + filter + " 2>&1";
  FILE* child = popen(command.c_str(), "r");
  std::string output;
  for (char line[4096]; fgets(line, sizeof line, child) != nullptr;) output += line;
  ok = pclose(child) == 0 && output.find("[  PASSED  ] 1 test") != output.npos;
  return output;
}

TEST(OpenclDriver, AMissingOneIsNamed) {
  bool ok = false;
  const std::string output =
      run_apart("TILEWISE_OPENCL_LIBRARY=/no/such/driver.so", "OpenclDriverApart.DISABLED_IsMissing", ok);
  EXPECT_TRUE(ok) << output;
}

TEST(OpenclDriverApart, DISABLED_IsMissing) {
  std::string why_none;
  EXPECT_TRUE(opencl::devices(why_none).empty());
  EXPECT_NE(why_none.find("/no/such/driver.so"), why_none.npos) << why_none;
  EXPECT_NE(message_of(errc::device_lost, [] { open("opencl:0"); }).find("/no/such/driver.so"), std::string::npos);
}

/// Runs a test with the substitute driver, whose calls fail on demand.
void run_with_fake(const std::string& test, const std::string& variables = "") {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  bool ok = false;
  const std::string output = run_apart(variables + " TILEWISE_OPENCL_LIBRARY='" TILEWISE_FAKE_OPENCL "'",
                                       "OpenclDriverApart.DISABLED_" + test, ok);
  EXPECT_TRUE(ok) << output;
}

TEST(OpenclDriver, FailuresOfEveryCallAreErrorsAndTheNextCallWorks) { run_with_fake("Fails"); }

/// Opens the device, scans and reduces. True if both results are correct, false if an error reported a failure.
bool works(const std::vector<float>& in, const std::vector<float>& expected) {
  std::vector<float> out(in.size());
  try {
    const tilewise::device on = open("opencl:0");
    on.implementation().queue().start_clock();
    inclusive_scan(in, out, {.device = on});
    const float total = reduce(in, {.device = on});
    EXPECT_GT(on.implementation().queue().stop_clock(), 0);
    EXPECT_EQ(total, expected.back());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0);
    return true;
  } catch (const error& e) {
    EXPECT_GT(std::strlen(e.what()), 20u);
    return false;
  }
}

TEST(OpenclDriverApart, DISABLED_Fails) {
  const std::vector<float> in = wide_floats(5001), before = in;
  std::vector<float> expected(in.size());
  inclusive_scan(in, expected);
  ASSERT_TRUE(works(in, expected));
  int faults = 0, noticed = 0;
#define TILEWISE_NAME(name) #name,
  for (const char* call : {TILEWISE_OPENCL_CALLS(TILEWISE_NAME)})
#undef TILEWISE_NAME
    for (int status : {CL_DEVICE_NOT_AVAILABLE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
                       CL_BUILD_PROGRAM_FAILURE, CL_INVALID_VALUE, -9999}) {
      {
        const environment_variable fault("FAKE_OPENCL", std::string(call) + "=" + std::to_string(status));
        noticed += !works(in, expected);
      }
      ASSERT_TRUE(works(in, expected)) << "after " << call << " returned " << status;
      ++faults;
    }
  EXPECT_EQ(std::memcmp(in.data(), before.data(), in.size() * sizeof(float)), 0);
  EXPECT_GE(faults, 180);
  EXPECT_GE(noticed, 50);
}

failing_calls& fake_driver() {
  static auto* const control =
      static_cast<failing_calls*>(dlsym(dlopen(TILEWISE_FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL), "fake_opencl_control"));
  return *control;
}

/// Makes `call` fail this often, after this many calls that work; then no call fails.
class failing_for_now {
 public:
  failing_for_now(const char* call, int status, long skipped, long times) {
    fake_driver().status = status;
    fake_driver().skipped = skipped;
    fake_driver().failing = times;
    fake_driver().failed = 0;
    fake_driver().call = call;
  }
  ~failing_for_now() { fake_driver().call = nullptr; }
  failing_for_now(const failing_for_now&) = delete;
};

TEST(OpenclDriver, WhatFailsIsNamed) { run_with_fake("NamesWhatFails"); }

/// The message has the name from OpenCL's manual, whichever thread calls.
TEST(OpenclDriverApart, DISABLED_NamesWhatFails) {
  const std::vector<float> in = wide_floats(2'000'001);
  int named = 0;
#define TILEWISE_NAME(name) #name,
  for (const char* call : {TILEWISE_OPENCL_CALLS(TILEWISE_NAME)}) {
#undef TILEWISE_NAME
    const failing_for_now broken(call, CL_INVALID_VALUE, 0, 1000);
    try {
      const tilewise::device on = open("opencl:0");
      array<float> there = on.upload(in);
      inclusive_scan(there, there);
      (void)there.download();
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find(call), std::string::npos) << call << ": " << e.what();
      ++named;
    }
  }
  EXPECT_GE(named, 10);
}

TEST(OpenclDriver, WhatItMakesForADeviceGoesWithIt) { run_with_fake("HoldsNothing"); }

/// No contexts, queues, programs, kernels and buffers, used or free, and no references to a caller's queue.
TEST(OpenclDriverApart, DISABLED_HoldsNothing) {
  const std::vector<float> in = wide_floats(2'000'001);
  const auto use = [&] {
    const tilewise::device on = open("opencl:0");
    const array<float> there = on.upload(in);
    inclusive_scan(in, {.device = on});
    return reduce(there);
  };
  const foreign_queue theirs;
  const auto use_theirs = [&] { return reduce(in, {.device = from_opencl_queue(theirs.queue.get())}); };
  EXPECT_EQ(use(), use_theirs());  // what the process keeps exists by now
  const long held = fake_driver().live;
  for (int i = 0; i < 3; ++i) use(), use_theirs();
  EXPECT_EQ(fake_driver().live, held);
}

TEST(OpenclDriver, NoPieceOfAResultIsMissedInSilence) { run_with_fake("ReadsPieces", "TILEWISE_DEVICE_MEMORY=1M"); }

/// Fails each call in turn, as many as there are. The last ones are waited for only at the end of all.
TEST(OpenclDriverApart, DISABLED_ReadsPieces) {
  const std::vector<float> in = wide_floats(200'001), expected = inclusive_scan(in);
  const tilewise::device on = open("opencl:0");
  long reads = 0;
  for (bool has_failed = true; has_failed; ++reads) {
    const failing_for_now broken("clEnqueueReadBuffer", CL_OUT_OF_RESOURCES, reads, 1);
    try {
      EXPECT_EQ(inclusive_scan(in, {.device = on}), expected) << "without an error, though read " << reads << " failed";
    } catch (const error& e) {
      EXPECT_GT(fake_driver().failed, 0) << e.what();
    }
    has_failed = fake_driver().failed != 0;
  }
  EXPECT_GT(reads, 12) << "it was not in pieces";
}

TEST(OpenclDriver, MemoryThatItRefusedIsNotCounted) { run_with_fake("HasAllItsMemory", "TILEWISE_DEVICE_MEMORY=16M"); }

TEST(OpenclDriverApart, DISABLED_HasAllItsMemory) {
  const tilewise::device on = open("opencl:0");
  const std::uint64_t floats = on.info().memory / 16 * 3 / sizeof(float);  // three quarters of the largest allocation
  for (int i = 0; i < 5; ++i) {
    const failing_for_now refused("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, 0, 2);
    message_of(errc::out_of_memory, [&] { on.allocate<float>(floats); });
    EXPECT_EQ(fake_driver().failed, 2) << "once more, without what was free";
  }
  on.allocate<float>(floats);
  const long held = fake_driver().live;  // includes that one, which is free
  const failing_for_now refused("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, 0, 1);
  const array<float> smaller = on.allocate<float>(floats / 8);
  EXPECT_LE(fake_driver().live, held) << "what is free goes before the driver is asked again";
}

TEST(OpenclDriver, ALaunchThatFailedLeavesNoTickets) { run_with_fake("DrawsAnew"); }

/// If one of several launches that draw tickets from one board fails, the first ones have drawn theirs.
TEST(OpenclDriverApart, DISABLED_DrawsAnew) {
  const tilewise::device on = open("opencl:0");
  const std::vector<float> in = wide_floats(20'000);
  std::vector<float> expected(in.size()), got(in.size());
  tilewise::sort(in, expected);
  tilewise::sort(in, got, {.device = on, .variant = "onesweep"});
  int failures = 0;
  for (long launch = 0;; ++launch) {
    alarm(120);  // groups would wait for a ticket that nobody draws
    const failing_for_now broken("clEnqueueNDRangeKernel", CL_DEVICE_NOT_AVAILABLE, launch, 1);
    try {
      tilewise::sort(in, got, {.device = on, .variant = "onesweep"});
      break;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::device_lost);
      ++failures;
    }
    tilewise::sort(in, got, {.device = on, .variant = "onesweep"});
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0) << launch;
  }
  EXPECT_GE(failures, 3);
}

TEST(OpenclDriver, MarkersWithoutTimesLeaveTheHostsClock) {
  for (const char* call : {"clGetEventProfilingInfo", "clEnqueueMarkerWithWaitList"})
    run_with_fake("HasNoMarkers", "FAKE_OPENCL=" + std::string(call) + "=-59");
}

TEST(OpenclDriverApart, DISABLED_HasNoMarkers) {
  const tilewise::device on = open("opencl:0");
  backend::queue& queue = on.implementation().queue();
  const backend::buffer a(queue, 1 << 22), b(queue, 1 << 22);
  queue.start_clock();
  queue.copy(b, a, 1 << 22);
  EXPECT_GT(queue.stop_clock(), 1000) << "the host's time";
  EXPECT_EQ(queue.clock_name(), "steady_clock");
}

}  // namespace
}  // namespace tilewise::tests
