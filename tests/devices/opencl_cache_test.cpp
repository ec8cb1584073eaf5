// SPDX-License-Identifier: Apache-2.0
// OpenCL programs on disk: a driver's cache has a limit, and a damaged program is built again. PoCL has its own cache,
// so CMakeLists.txt gives it another name for this file's tests.
#include "backend/opencl/driver_folder.hpp"
#include "cache_fixture.hpp"
#include "faults/failing_calls.hpp"
#include "opencl_fixture.hpp"

#include <fstream>

#include <dlfcn.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

class OpenclCache : public cache_fixture {};

TEST_F(OpenclCache, WhatADriverKeepsStaysWithinALimit) {
  const fs::path pocl = scratch_.path() / "pocl";
  const long day = 24 * 60 * 60;
  const auto keep = [&](const char* name, long last_used) {
    fs::create_directories(pocl / name / "kernel");
    std::ofstream(pocl / name / "kernel" / "object.so") << std::string(1000, 'x');
    std::ofstream(pocl / name / "last_accessed") << "";
    age(pocl / name / "last_accessed", last_used);
    age(pocl / name, 9 * day);
  };
  keep("AA/oldest", 3 * day);
  keep("AA/old", 2 * day);
  keep("BB/used", 60);
  std::ofstream(pocl / "tempfile_left") << "";
  age(pocl / "tempfile_left", day / 12);
  std::ofstream(pocl / "tempfile_fresh") << "";
  fs::create_directories(pocl / ".old-1-1" / "kernel");
  age(pocl / ".old-1-1", 2 * day);
  opencl::limit_driver_objects(pocl.string(), 3000);
  EXPECT_TRUE(fs::exists(pocl / "AA/oldest"));
  EXPECT_FALSE(fs::exists(pocl / "tempfile_left") || fs::exists(pocl / ".old-1-1"));
  EXPECT_TRUE(fs::exists(pocl / "tempfile_fresh")) << "somebody may be writing it";
  opencl::limit_driver_objects(pocl.string(), 2500);
  EXPECT_FALSE(fs::exists(pocl / "AA/oldest"));
  EXPECT_TRUE(fs::exists(pocl / "AA/old/kernel/object.so"));
  opencl::limit_driver_objects(pocl.string(), 0);
  EXPECT_FALSE(fs::exists(pocl / "AA/old"));
  EXPECT_TRUE(fs::exists(pocl / "BB/used/kernel/object.so")) << "within a day it may be in use";
  EXPECT_EQ(std::distance(fs::directory_iterator(pocl), {}), 3) << "AA, BB and the fresh file";
  opencl::limit_driver_objects((scratch_.path() / "none").string(), 0);
}

TEST_F(OpenclCache, ProgramsAreBuiltAnewFromDamagedEntries) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  const std::vector<float> in = wide_floats(5000);
  const float expected = reduce(in);
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  std::vector<fs::path> entries;
  for (const auto& file : fs::directory_iterator(folder_))
    if (file.path().extension() == ".bin") entries.push_back(file.path());
  ASSERT_EQ(entries.size(), 1u);
  const auto contents = [&] {
    std::ifstream file(entries[0], std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto size = static_cast<long>(fs::file_size(entries[0]));
  for (const long at : {0L, 40L, size / 2, size - 6}) {
    std::fstream(entries[0], std::ios::in | std::ios::out | std::ios::binary).seekp(at) << "damage";
    const std::string damaged = contents();
    EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected) << at;
    EXPECT_NE(contents(), damaged) << "the entry is written again; " << at;
  }
  fs::resize_file(entries[0], 100);
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  EXPECT_GT(fs::file_size(entries[0]), 100u) << "the entry is written again";
}

/// Another release of a driver may refuse programs that it compiled earlier, when they are loaded or when they are
/// built.
TEST_F(OpenclCache, ProgramsAreBuiltAnewFromEntriesThatTheDriverRefuses) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  auto& driver =
      *static_cast<failing_calls*>(dlsym(dlopen(TILEWISE_FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL), "fake_opencl_control"));
  const std::vector<float> in = wide_floats(5000);
  const float expected = reduce(in);
  const auto result = [&] { return reduce(in, {.device = open("opencl:0")}); };
  const auto entry = [&] {
    struct stat facts {};
    for (const auto& file : fs::directory_iterator(folder_))
      if (file.path().extension() == ".bin") stat(file.path().c_str(), &facts);
    return facts.st_ino;
  };
  EXPECT_EQ(result(), expected);
  for (const char* call : {"clCreateProgramWithBinary", "clBuildProgram"}) {
    const ino_t refused = entry();
    driver.status = CL_INVALID_BINARY, driver.failing = 1, driver.failed = 0, driver.call = call;
    EXPECT_EQ(result(), expected) << call;
    driver.call = nullptr;
    EXPECT_EQ(driver.failed, 1) << call;
    EXPECT_NE(entry(), refused) << call << ": the entry is written again";
  }
}

/// A driver may accept a program that another driver compiled, and compute wrong results with it.
TEST_F(OpenclCache, AProgramIsForItsDeviceDriverAndPlatformAlone) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  const std::vector<float> in = wide_floats(5000);
  const auto entries_after_a_call = [&] {
    reduce(in, {.device = open("opencl:0")});
    return std::count_if(fs::directory_iterator(folder_), fs::directory_iterator(),
                         [](const auto& file) { return file.path().extension() == ".bin"; });
  };
  EXPECT_EQ(entries_after_a_call(), 1);
  long entries = 1;
  for (const char* text : {"FAKE_OPENCL_NAME", "FAKE_OPENCL_DRIVER", "FAKE_OPENCL_VERSION", "FAKE_OPENCL_PLATFORM"}) {
    const environment_variable other(text, "Yet another");
    EXPECT_EQ(entries_after_a_call(), ++entries) << text;
    EXPECT_EQ(entries_after_a_call(), entries) << text << ", which is the same";
  }
}

/// A program is also for its source and definitions alone. Each of these lets another device read what others stored.
TEST_F(OpenclCache, AProgramIsForItsDefinitionsAlone) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  const std::vector<float> in = wide_floats(5000);
  const std::vector<std::int32_t> words(in.size(), -3);
  for (int again = 0; again < 2; ++again) {
    for (const op operation : all_ops)
      EXPECT_EQ(reduce(in, {.op = operation, .device = open("opencl:0")}), reduce(in, {.op = operation}))
          << name_of(operation);
    EXPECT_EQ(reduce(words, {.device = open("opencl:0")}), reduce(words));
    EXPECT_EQ(inclusive_scan(in, {.device = open("opencl:0")}), inclusive_scan(in));
  }
}

}  // namespace
}  // namespace tilewise::tests
