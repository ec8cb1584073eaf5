// SPDX-License-Identifier: Apache-2.0
// A program that uses the library as cli_hostile_test.py asks, in a new process each time. A failure shows as a signal,
// a process that does not end, or an unexpected line.
#include "faults/failing_allocations.hpp"
#include "faults/failing_calls.hpp"

#include <tilewise/tilewise.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace tw = tilewise;
using tilewise::tests::allocations_left;

/// Never destroyed, so that it outlives the library.
const std::vector<float>& values = *new std::vector<float>(4'000'000, 0.25f);

void print_total(const tw::device& on) {
  const float total = tw::reduce(values, {.device = on});
  std::printf("%s %g\n", on.name().c_str(), static_cast<double>(total));
  std::fflush(stdout);
}

void print_error(const tw::error& e) {
  std::printf("error %d: %s\n", static_cast<int>(e.code()), e.what());
  std::fflush(stdout);
}

void attempt(const std::function<void()>& call) {
  try {
    call();
  } catch (const tw::error& e) {
    print_error(e);
  }
}

/// Runs `body` in a child and returns whether the child succeeded.
bool ends_well_in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    try {
      body();
    } catch (const std::exception& e) {
      std::printf("threw %s\n", e.what());
      std::fflush(stdout);
      _exit(1);
    }
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

/// The very first use of the library, by many threads at once. Each opens a device and stores data there.
void use_together(unsigned threads, const std::string& name) {
  std::atomic<unsigned> waiting{threads}, good{0};
  const std::vector<float> some(100, 1.0f);
  const auto use = [&] {
    --waiting;
    while (waiting != 0) std::this_thread::yield();
    if (name == "devices")
      good += !tw::devices().empty();
    else
      good += tw::open(name).upload(some).download() == some;
  };
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back([&] { attempt(use); });
  for (std::thread& one : all) one.join();
  if (good != threads) throw std::runtime_error("not all threads were served");
}

/// elsewhere NAME FOLDER: a kernel may be linked at its first launch, whatever the current folder is by then.
void use_elsewhere(const std::string& name, const std::string& folder) {
  const tw::device on = tw::open(name);
  tw::reduce(std::vector<float>(1000), {.device = on});
  std::filesystem::current_path(folder);
  print_total(on);
}

/// cold NAME THREADS REPETITIONS: each repetition runs in a process that has not used a driver yet.
void cold(const std::string& name, unsigned threads, int repetitions) {
  int good = 0;
  for (int i = 0; i < repetitions; ++i) good += ends_well_in_child([&] { use_together(threads, name); });
  std::printf("%d of %d\n", good, repetitions);
}

/// static NAME: made before the first call of the library, so it is destroyed after all that this call leaves behind.
struct last_caller {
  std::string on;
  ~last_caller() {
    if (!on.empty()) attempt([this] { print_total(tw::open(on)); });
  }
} at_exit;

/// fork NAME: uses the device in the parent, then in a child, once as it was and once reopened, where a device with its
/// own threads is also closed. fork-first: uses it in children only. fork-again NAME OTHER: uses OTHER in the parent,
/// and NAME in a child and in a child of the child.
void fork_after_use(const std::string& name) {
  const tw::device on = tw::open(name);
  print_total(on);
  const tw::array<float> there = on.upload(values);
  std::optional<tw::device> own = tw::open(name, {.threads = 3});
  std::optional<tw::array<float>> on_own = tw::inclusive_scan(own->upload(values));
  const bool well = ends_well_in_child([&] {
    attempt([&] { print_total(on); });
    attempt([&] { print_total(tw::open(name)); });
    attempt([&] { tw::inclusive_scan(there); });
    on_own.reset();
    own.reset();
  });
  std::printf(well ? "the child ended well\n" : "the child did not end well\n");
  print_total(on);
}

void fork_before_use(const std::string& name) {
  for (int i = 0; i < 2; ++i)
    if (!ends_well_in_child([&] { print_total(tw::open(name)); })) std::printf("the child did not end well\n");
}

void fork_again(const std::string& name, const std::string& other) {
  print_total(tw::open(other));
  if (!ends_well_in_child([&] { fork_after_use(name); })) std::printf("the child did not end well\n");
}

/// cache: prints the folder for programs that PoCL compiles, and its permissions.
void print_driver_folder() {
  tw::devices();
  const char* folder = std::getenv("POCL_CACHE_DIR");
  struct stat facts {};
  if (folder == nullptr || stat(folder, &facts) != 0)
    std::printf("the driver's own\n");
  else
    std::printf("%s %o\n", folder, facts.st_mode & 07777);
}

/// Limits the address space to what is used now and this many bytes more.
void leave_room_for(rlim_t bytes) {
  std::ifstream pages("/proc/self/statm");
  rlim_t used = 0;
  pages >> used;
  const rlim_t most = used * static_cast<rlim_t>(sysconf(_SC_PAGE_SIZE)) + bytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

/// memory NAME: makes allocation after allocation fail, until the work succeeds without a failure. Before that, every
/// call must report a lack of memory.
void use_with_little_memory(const std::string& name) {
  const std::vector<float> some(values.begin(), values.begin() + 10'000);
  const std::span<const float> few = std::span(some).first(400);
  const auto compute = [&] {
    const tw::device on = tw::open(name, {.threads = 4});  // a thread that cannot start is left out
    tw::inclusive_scan(some, {.device = on});
    tw::argsort(some, {.device = on});
    tw::polymul(few, few, {.device = on});
    tw::matmul(few, {20, 20}, few, {20, 20}, {.device = on});
    tw::convolve(few, {20, 20}, few.first(9), {3, 3}, {.device = on});
    tw::reduce(on.upload(some));
  };
  int good = 0;
  for (long allocation = 0; allocation < 5000 && good == 0; ++allocation)
    good += ends_well_in_child([&] {
      allocations_left = allocation;
      try {
        compute();
      } catch (const tw::error& e) {
        allocations_left = -1;
        if (e.code() != tw::errc::out_of_memory) print_error(e);
        _exit(2);
      }
      if (allocations_left < 0) _exit(3);  // no allocation failed
      allocations_left = -1;
    });
  std::printf(good != 0 ? "done\n" : "never done\n");
}

/// The number of objects that a substitute driver holds; 0 for a real driver.
long held_by_driver() {
  const char* const stand_in = std::getenv("TILEWISE_OPENCL_LIBRARY");
  void* const control =
      stand_in == nullptr ? nullptr : dlsym(dlopen(stand_in, RTLD_NOW | RTLD_LOCAL), "fake_opencl_control");
  return control == nullptr ? 0 : static_cast<tilewise::tests::failing_calls*>(control)->live.load();
}

/// room NAME: a call that fails for lack of host memory keeps no device memory.
void allocate_with_little_memory(const std::string& name) {
  const tw::device on = tw::open(name);
  const auto allocate = [&](std::uint64_t quarters) { on.allocate<float>(on.info().memory / 16 * quarters); };
  attempt([&] { allocate(0); });
  // Only the library's allocations fail: drivers contain compilers, which end the process if they get no memory.
  tilewise::tests::counted_callers = tilewise::tests::addresses_around(dlsym(RTLD_NEXT, "_ZN8tilewise7devicesEv"));
  int failures = 0;
  const long held = held_by_driver();
  for (long tries = 0, left = -1; left < 0; ++tries) {
    allocations_left = tries / 2;  // twice, since what was made before a failure is not made again
    try {
      allocate(2);
    } catch (const tw::error&) {
      ++failures;
    }
    left = allocations_left.exchange(-1);
  }
  attempt([&] { allocate(3); });
  if (const long more = held_by_driver() - held; more > 0) std::printf("%ld more objects are held\n", more);
  std::printf(failures != 0 ? "done\n" : "nothing failed\n");
}

/// notes NAME: memory that cannot be recorded for reuse, for lack of memory, is returned to the system.
void release_with_little_memory(const std::string& name) {
  constexpr std::uint64_t floats = 1 << 18, times = 20;
  const tw::device on = tw::open(name);
  const auto release_one = [&] {
    const tw::array<float> block = on.allocate<float>(floats);
    allocations_left = 0;
  };
  const auto used = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  std::size_t before = 0;
  for (std::uint64_t i = 0; i <= times; ++i) {
    release_one();
    if (allocations_left.exchange(-1) >= 0) return void(std::printf("nothing failed\n"));
    if (i == 0) before = used();
  }
  std::printf(used() < before + times * floats * sizeof(float) / 2 ? "done\n" : "what could not be noted was kept\n");
}

/// group NAME: in a control group with too little memory for both the kept memory and a new array, the array gets it.
void allocate_beside_what_is_kept(const std::string& name) {
  const tw::device on = tw::open(name);
  constexpr std::size_t floats_of_mib = (1 << 20) / sizeof(float);
  on.upload(std::vector<float>(71 * floats_of_mib, 1));
  attempt([&] { on.allocate<float>(575 * floats_of_mib); });
  std::printf("done\n");
}

/// threads NAME COUNT: runs where the system allows only a few threads.
void use_with_few_threads(const std::string& name, unsigned threads) {
  leave_room_for(rlim_t{100} << 20);
  attempt([&] { print_total(tw::open(name, {.threads = threads})); });
  attempt([&] { print_total(tw::open(name, {.threads = 2})); });
}

/// divide NAME: after a device was opened, a division by zero still ends the process. Volatile, so that the compiler
/// keeps the division.
void divide_by_zero(const std::string& name) {
  print_total(tw::open(name));
  volatile int one = 1, zero = 0;
  std::printf("%d\n", one / zero);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.at(0), name = words.size() > 1 ? words[1] : "";
  const auto number = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(words.at(i))); };
  attempt([&] {
    if (what == "cold") cold(name, number(2), static_cast<int>(number(3)));
    if (what == "static") print_total(tw::open(name)), at_exit.on = name;
    if (what == "cache") print_driver_folder();
    if (what == "elsewhere") use_elsewhere(name, words.at(2));
    if (what == "use") print_total(tw::open(name));
    if (what == "fork") fork_after_use(name);
    if (what == "fork-first") fork_before_use(name);
    if (what == "fork-again") fork_again(name, words.at(2));
    if (what == "memory") use_with_little_memory(name);
    if (what == "room") allocate_with_little_memory(name);
    if (what == "notes") release_with_little_memory(name);
    if (what == "group") allocate_beside_what_is_kept(name);
    if (what == "divide") divide_by_zero(name);
    if (what == "threads") use_with_few_threads(name, number(2));
  });
}
