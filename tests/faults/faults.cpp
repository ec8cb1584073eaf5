// SPDX-License-Identifier: Apache-2.0
// Every public call, with one thing failing beneath it, then a later one, until nothing fails any more: each failure is
// an error with the fitting code, leaks nothing, leaves the inputs alone, and the next call is right.
//   tilewise-faults memory|buffers|driver DEVICE
// memory: host memory; buffers: the device's, from the k-th on; driver: each call of OpenCL's or CUDA's, once, each
// with another one of six codes. Every k is tried on the CPU; elsewhere, where that would take minutes, each next one
// is three times as far.
#include "calls/public_calls.hpp"
#include "failing_allocations.hpp"
#include "fault_source.hpp"
#ifdef TILEWISE_FAILING_CUDA
#include "failing_cuda.hpp"
#endif
#ifdef TILEWISE_FAKE_OPENCL
#include "backend/opencl/api.hpp"
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <dlfcn.h>

namespace tilewise::tests {

namespace {

namespace tw = tilewise;

struct tally {
  long faults = 0;
  long absorbed = 0;  ///< the call was right all the same
  long found = 0;
};

struct outcome {
  std::vector<std::byte> result;
  std::optional<error> failure;
  std::string thrown;  ///< of another type, which no caller expects
};

outcome of(const attempt& call) {
  try {
    return {call(), {}, ""};
  } catch (const error& e) {
    return {{}, e, ""};
  } catch (const std::exception& e) {
    return {{}, {}, e.what()};
  }
}

/// What is wrong after a failure, in words; empty if nothing is.
std::string complaint(const source& from, const outcome& got, const std::vector<std::byte>& expected) {
  if (!got.thrown.empty()) return "threw no tilewise::error but '" + got.thrown + "'";
  if (got.failure && !from.fits(*got.failure))
    return "has the code " + std::to_string(static_cast<int>(got.failure->code())) + ": " + got.failure->what();
  if (!got.failure && got.result != expected) return "returned something else without an error";
  return "";
}

/// Whether anything failed.
template <class Report>
bool fail_once(const attempt& compute, const std::vector<std::byte>& expected, const source& from, long k, tally& total,
               const Report& report) {
  from.arm(k);
  const outcome got = of(compute);
  if (!from.disarm()) return false;
  ++total.faults;
  total.absorbed += !got.failure && got.thrown.empty();
  if (const std::string what = complaint(from, got, expected); !what.empty()) report(k, what);
  if (const std::string what = from.aftermath(); !what.empty()) report(k, what);
  const outcome next = of(compute);
  if (next.failure)
    report(k, std::string("the next call failed: ") + next.failure->what());
  else if (next.result != expected)
    report(k, "the next call returned something else" + next.thrown);
  return true;
}

/// Whether the same fault leaves something behind again and again. Once more may be held than before: what is kept for
/// the next call depends on which threads met.
template <class Report>
bool grows_each_time(const attempt& compute, const std::vector<std::byte>& expected, const source& from, long k,
                     tally& total, const Report& report) {
  for (int again = 0; again < 4; ++again) {
    const long held = from.live();
    fail_once(compute, expected, from, k, total, report);
    if (from.live() <= held) return false;
  }
  return true;
}

/// Tries one call with some k, until the fault comes too late for it.
void fail_in(const public_call& call, const source& from, const device& on, tally& total) {
  attempt compute = call.on(on);
  const std::vector<std::byte> expected = compute();
  compute();  // what is kept between calls is there now
  long held = from.live();
  const bool is_quick = on.info().backend == "cpu";
  const auto report = [&](long k, const std::string& what) {
    ++total.found;
    std::printf("%s, %s, fault %ld on %s: %s\n", call.name.c_str(), from.name.c_str(), k, on.name().c_str(),
                what.c_str());
    std::fflush(stdout);
  };
  for (long k = 0;; k = is_quick ? k + 1 : 3 * k + 2) {
    if (from.on_a_new_device) compute = nullptr, compute = call.on(tw::open(on.name()));
    if (!fail_once(compute, expected, from, k, total, report)) return;
    if (!inputs_are_whole()) report(k, "an input has changed");
    if (from.live() > held && grows_each_time(compute, expected, from, k, total, report))
      report(k, "each time more is held than before");
    held = from.live();
  }
}

/// With drivers that compile, a few cases are a few programs: those of one call.
bool is_one_of_few(const public_call& call, const device& on) {
  return on.info().backend != "opencl" || call.name == "opening" || call.name == "upload and download" ||
         call.name == "reduce f32" || call.name == "parts from 0 on of f32";
}

tally fail_in_all(const std::vector<source>& sources, const std::string& name) {
  const device on = tw::open(name, {.threads = name.starts_with("cpu") ? 2u : 0u});
  tally total;
  for (const public_call& call : public_calls(on)) {
    if (!is_one_of_few(call, on)) continue;
    const std::optional<error> without = of(call.on(on)).failure;
    if (without && without->code() == errc::unsupported) continue;  // not every backend has every algorithm
    if (without) throw *without;
    for (const source& from : sources) fail_in(call, from, on, total);
  }
  return total;
}

#ifdef TILEWISE_FAKE_OPENCL

failing_calls& driver() {
  static auto* const control =
      static_cast<failing_calls*>(dlsym(dlopen(TILEWISE_FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL), "fake_opencl_control"));
  return *control;
}

std::vector<source> device_memory() {
  return {failing(
      driver(), "clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, 1'000'000,
      [](const error& e) { return e.code() == errc::out_of_memory; }, true)};
}

std::vector<source> driver_calls() {
  constexpr std::array codes{CL_DEVICE_NOT_AVAILABLE, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                             CL_OUT_OF_RESOURCES,     CL_BUILD_PROGRAM_FAILURE,
                             CL_INVALID_VALUE,        -9999};
  std::vector<source> all;
  std::size_t chosen = 0;  // of the codes, for each call another one
#define TILEWISE_NAME(name) #name,
  for (const char* call : {TILEWISE_OPENCL_CALLS(TILEWISE_NAME)}) {
#undef TILEWISE_NAME
    const int status = codes[++chosen % codes.size()];
    all.push_back(failing(
        driver(), call, status, 1,
        [status, builds = std::string_view(call) == "clBuildProgram"](const error& e) {
          if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES)
            return e.code() == errc::out_of_memory;
          const bool is_of_program = builds && status != CL_DEVICE_NOT_AVAILABLE;
          return e.code() ==
                 (is_of_program || status == CL_BUILD_PROGRAM_FAILURE ? errc::build_failed : errc::device_lost);
        },
        false));
  }
  return all;
}

#endif

std::vector<source> host_memory(const std::string& device) {
  source memory{"host memory", [](long skipped) { allocations_left = skipped; },
                [] { return allocations_left.exchange(-1) < 0; }, [] { return live_allocations.load(); },
                [](const error& e) { return e.code() == errc::out_of_memory; }};
#ifdef TILEWISE_FAKE_OPENCL
  if (device.starts_with("opencl")) {
    // Only the library's: drivers bring compilers, which end the process without memory.
    counted_callers = addresses_around(dlsym(RTLD_NEXT, "_ZN8tilewise7devicesEv"));
    memory.live = [] { return driver().live.load(); };
  }
#endif
  if (device.starts_with("cpu") || device.find('*') != device.npos) return {memory};
  source on_new_devices = memory;
  on_new_devices.on_a_new_device = true;
  return {memory, on_new_devices};
}

std::vector<source> sources(const std::string& kind, const std::string& device) {
  if (kind == "memory") return host_memory(device);
#ifdef TILEWISE_FAKE_OPENCL
  if (kind == "buffers") return device_memory();
  if (kind == "driver") return driver_calls();
#endif
#ifdef TILEWISE_FAILING_CUDA
  if (kind == "buffers") return cuda_memory();
  if (kind == "driver") return cuda_calls();
#endif
  throw std::invalid_argument("usage: tilewise-faults memory|buffers|driver DEVICE");
}

/// Why there is nothing to try; empty if there is.
std::string obstacle(const std::string& device) {
  if (device.find("cuda") == device.npos) return "";
  const std::optional<error> why = of([&] { return tw::open(device), std::vector<std::byte>(); }).failure;
  return why ? why->what() : "";
}

}  // namespace

}  // namespace tilewise::tests

int main(int argc, char** argv) {
  using namespace tilewise::tests;
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
#ifdef TILEWISE_FAKE_OPENCL
    setenv("TILEWISE_OPENCL_LIBRARY", TILEWISE_FAKE_OPENCL, 1);
#endif
    const std::string kind = words.at(0), device = words.at(1);
    if (const std::string why = obstacle(device); !why.empty()) {
      std::printf("skipped: %s\n", why.c_str());
      return 0;
    }
    const tally total = fail_in_all(sources(kind, device), device);
    if (total.faults == 0) throw std::runtime_error("nothing could be made to fail");
    std::printf("%s on %s: %ld faults, %ld of which changed nothing; %ld found\n", kind.c_str(), device.c_str(),
                total.faults, total.absorbed, total.found);
    return total.found != 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tilewise-faults: %s\n", e.what());
    return 2;
  }
}
