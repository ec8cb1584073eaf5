// SPDX-License-Identifier: Apache-2.0
// OpenCL drivers that are missing, and drivers whose every call fails.
#include "cache_fixture.hpp"
#include "opencl_fixture.hpp"

#include <cstdio>
#include <filesystem>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

/// Runs tests of this program in a separate process, since a driver is loaded only once. Returns the output; `ok` if
/// all passed.
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

TEST(OpenclDriver, FailuresOfEveryCallAreErrorsAndTheNextCallWorks) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  bool ok = false;
  const std::string output =
      run_apart("TILEWISE_OPENCL_LIBRARY='" TILEWISE_FAKE_OPENCL "'", "OpenclDriverApart.DISABLED_Fails", ok);
  EXPECT_TRUE(ok) << output;
}

/// Opens the device, scans and reduces; true if both are right, false if an error reported that something failed.
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

TEST(OpenclDriver, MarkersWithoutTimesLeaveTheHostsClock) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  for (const char* call : {"clGetEventProfilingInfo", "clEnqueueMarkerWithWaitList"}) {
    bool ok = false;
    const std::string output =
        run_apart("TILEWISE_OPENCL_LIBRARY='" TILEWISE_FAKE_OPENCL "' FAKE_OPENCL=" + std::string(call) + "=-59",
                  "OpenclDriverApart.DISABLED_HasNoMarkers", ok);
    EXPECT_TRUE(ok) << output;
  }
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
