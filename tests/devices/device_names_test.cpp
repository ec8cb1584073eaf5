// SPDX-License-Identifier: Apache-2.0
// Opens devices by name, with options. For this file's tests CMakeLists.txt gives PoCL's device a name with a digit.
#include "backend/backend.hpp"
#include "backend/cpu/device.hpp"
#include "cache_fixture.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <algorithm>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

TEST(DeviceNames, OnesWithoutADeviceSayWhatThereIs) {
  for (const char* name :
       {"cpux", "cpu:", "cpu:thread", "opencl:99", "opencl:", "openclx", "cuda:99", "nothing", "Auto"})
    EXPECT_EQ(code_of([&] { open(name); }), errc::device_lost) << name;
  for (const backend::runtime& r : backend::runtimes()) {
    std::string why_none;
    if (!r.devices(why_none).empty()) continue;
    const std::string told = message_of(errc::device_lost, [&] { open(std::string(r.name) + ":0"); });
    EXPECT_NE(told.find(why_none), told.npos) << told;
  }
}

/// A number is an index, even if it also occurs in a device's name.
TEST(DeviceNames, PartsOfWhatADeviceSaysNameIt) {
  for (const device& on : devices()) {
    if (on.info().backend == "cpu") continue;
    const std::string kind = on.info().backend;
    EXPECT_EQ(open(on.name()).name(), on.name());
    for (const std::string& text : {on.info().description, on.info().platform}) {
      if (text.empty()) continue;
      const std::string name = open(kind + ":" + text).name();
      EXPECT_EQ(name.substr(0, kind.size()), kind) << text;
      const std::size_t digit = text.find_first_of("23456789");
      if (digit == text.npos || kind != "opencl") continue;
      EXPECT_EQ(code_of([&] { open(kind + ":" + text[digit]); }), errc::device_lost) << text;
    }
  }
}

TEST(DeviceNames, TheFirstOfABackendHasItsName) {
  for (const backend::runtime& r : backend::runtimes()) {
    std::string why_none;
    const auto all = r.devices(why_none);
    if (r.name == "cpu" || all.empty()) continue;
    EXPECT_EQ(open(r.name).name(), all.front()->info().name);
  }
}

TEST(DeviceNames, AutoIsAGpuOrTheProcessorItself) {
  const environment_variable none("TILEWISE_DEVICE", "");
  const auto all = devices();
  const bool has_gpu = std::any_of(all.begin(), all.end(), [](const device& one) { return !one.info().is_cpu; });
  const device_info chosen = open("auto").info();
  EXPECT_EQ(chosen.is_cpu, !has_gpu);
  if (!has_gpu) EXPECT_EQ(chosen.name, "cpu");
  EXPECT_EQ(open("").info().name, chosen.name);
  const environment_variable of_itself("TILEWISE_DEVICE", "auto");
  EXPECT_EQ(open("auto").info().name, chosen.name);
}

TEST(DeviceNames, OptionsReachTheDevice) {
  const auto told = [](const std::string& name, const open_options& options) {
    return open(name, options).info().platform;
  };
  EXPECT_EQ(told("cpu", {.threads = 3}).substr(0, 18), "threads, 3 threads");
  for (const device& on : devices()) {  // the executors in this build
    const std::string name(on.name());
    if (!name.starts_with("cpu:") || name == "cpu:serial") continue;
    EXPECT_TRUE(told(name, {.threads = 5}).starts_with(name.substr(4) + ", 5 threads")) << told(name, {.threads = 5});
  }
  EXPECT_EQ(told("cpu:serial", {.threads = 3}).substr(0, 16), "serial, 1 thread");
  for (const auto level : backend::cpu::instruction_sets()) {
    const std::string name(backend::cpu::name_of(level));
    EXPECT_TRUE(told("cpu", {.instruction_set = name}).ends_with("x86-64-" + name)) << name;
  }
  const environment_variable named("TILEWISE_DEVICE", "cpu:threads");
  EXPECT_EQ(told("auto", {.threads = 3}).substr(0, 18), "threads, 3 threads");
}

}  // namespace
}  // namespace tilewise::tests
