// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/device.hpp"

#include "backend/cpu/kernels.hpp"
#include "base/ceil_div.hpp"
#include "base/host.hpp"
#include "base/lasting.hpp"
#include "base/nearest.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include <cpuid.h>
#include <unistd.h>

namespace tilewise::backend::cpu {

namespace {

/// The level whose kernels are used for each level: another one if the build does not have it.
constexpr std::array built{instruction_set::TILEWISE_V2, instruction_set::TILEWISE_V3, instruction_set::TILEWISE_V4};

bool is_supported(instruction_set level) {
  switch (level) {
    case instruction_set::v2: return __builtin_cpu_supports("x86-64-v2") != 0;
    case instruction_set::v3: return __builtin_cpu_supports("x86-64-v3") != 0;
    default: return __builtin_cpu_supports("x86-64-v4") != 0;
  }
}

}  // namespace

instruction_set best_instruction_set() {
  static const instruction_set best = [] {
    const auto all = instruction_sets();
    if (!all.empty()) return all.front();
    throw error(errc::unsupported, "this library is built for x86-64-" + std::string(name_of(built.front())) +
                                       " and better, which this processor is not; build it with v2 among its "
                                       "TILEWISE_CPU_LEVELS");
  }();
  return best;
}

bool gains_by_fetching() {
  static const bool is_zen5 = [] {
    unsigned signature = 0, vendor = 0, rest = 0;
    if (__get_cpuid(0, &rest, &vendor, &rest, &rest) == 0 || vendor != signature_AMD_ebx) return false;
    __get_cpuid(1, &signature, &rest, &rest, &rest);
    const unsigned family = (signature >> 8 & 0xf) + (signature >> 20 & 0xff);
    return family == 0x1a;
  }();
  return is_zen5;
}

std::vector<instruction_set> instruction_sets() {
  std::vector<instruction_set> all;
  for (const auto level : {instruction_set::v4, instruction_set::v3, instruction_set::v2})
    if (built[static_cast<std::size_t>(level)] == level && is_supported(level)) all.push_back(level);
  return all;
}

std::string_view name_of(instruction_set level) {
  constexpr std::array<std::string_view, 3> names{"v2", "v3", "v4"};
  return names[static_cast<std::size_t>(level)];
}

namespace {

std::string model_name() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "CPU";
}

/// The CPUs that this process may run on.
unsigned logical_cpus() {
  const auto mine = static_cast<unsigned>(base::processors_of_process().count());
  return mine != 0 ? mine : std::max(1u, std::thread::hardware_concurrency());
}

/// Bytes of the last-level cache, from the kernel, which reports kilobytes. Not from sysconf: that adds up the caches
/// of all dies of a large CPU.
std::uint64_t last_level_cache() {
  for (int index = 4; index >= 0; --index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    if (std::uint64_t kilobytes = 0; file >> kilobytes) return kilobytes * 1024;
  }
  return static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
}

device_info describe(const std::string& name, std::string_view executor, unsigned threads, instruction_set level) {
  device_info info;
  info.name = name;
  info.backend = "cpu";
  info.description = model_name();
  info.platform = std::string(executor) + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
                  ", x86-64-" + std::string(name_of(level));
  info.compute_units = logical_cpus();
  info.memory = info.max_allocation = physical_memory();
  info.cache = last_level_cache();
  info.is_cpu = true;
  info.fp64 = true;
  return info;
}

class cpu_device final : public backend::device {
 public:
  cpu_device(device_info info, std::string_view executor, unsigned threads, instruction_set level)
      : device(std::move(info)), executor_(executor), threads_(threads), level_(level) {}

 protected:
  std::unique_ptr<backend::queue> make_queue() override {
    return std::make_unique<cpu::queue>(*this, make_executor(executor_, threads_), threads_, level_);
  }

 private:
  std::string executor_;
  unsigned threads_;
  instruction_set level_;
};

instruction_set parse_level(const std::string& text) {
  if (text.empty()) return best_instruction_set();
  for (instruction_set level : instruction_sets())
    if (text == name_of(level)) return level;
  throw error(errc::unsupported,
              "this CPU or this build has no instruction set '" + text +
                  "'; they are called v2, v3 (AVX2) and v4 (AVX-512), and the best that it has is '" +
                  std::string(name_of(best_instruction_set())) + "'");
}

std::shared_ptr<backend::device> make_new(std::string_view name, std::string_view executor,
                                          const open_options& options) {
  const unsigned threads = executor == "serial" ? 1 : options.threads != 0 ? options.threads : logical_cpus();
  const instruction_set level = parse_level(options.instruction_set);
  return std::make_shared<cpu_device>(describe(std::string(name), executor, threads, level), executor, threads, level);
}

/// The shared device for a name without options, so that a call on host data need not start new threads.
std::shared_ptr<backend::device> make_default(std::string_view name, std::string_view executor) {
  using by_name = std::map<std::string, std::shared_ptr<backend::device>, std::less<>>;
  static auto& made = base::lasting([] { return base::guarded<by_name>(); });
  return made.with([&](by_name& all) {
    if (const auto found = all.find(name); found != all.end()) return found->second;
    return all.emplace(name, make_new(name, executor, {})).first->second;
  });
}

}  // namespace

std::shared_ptr<backend::device> make_device(std::string_view name, const open_options& options) {
  const std::string_view wanted = name.starts_with("cpu:") ? name.substr(4) : std::string_view("threads");
  const auto names = executor_names();
  if (std::find(names.begin(), names.end(), wanted) == names.end()) {
    std::vector<std::string> known{"cpu"};
    for (std::string_view n : names) known.push_back("cpu:" + std::string(n));
    throw error(errc::device_lost, "there is no device '" + std::string(name) + "';" + base::nearest(name, known));
  }
  if (const std::string why_none = why_no_executor(wanted); !why_none.empty()) throw error(errc::device_lost, why_none);
  const bool plain = options.threads == 0 && options.instruction_set.empty();
  return plain ? make_default(name, wanted) : make_new(name, wanted, options);
}

std::vector<std::shared_ptr<backend::device>> devices(std::string&) {
  std::vector<std::shared_ptr<backend::device>> all;
  for (std::string_view executor : executor_names())
    if (why_no_executor(executor).empty()) all.push_back(make_device("cpu:" + std::string(executor), {}));
  return all;
}

queue::queue(const backend::device& owner, std::unique_ptr<executor> team, unsigned threads, instruction_set level)
    : backend::queue(owner), team_(std::move(team)), threads_(threads), level_(level) {}

bool queue::exceeds_cache(std::uint64_t bytes) const {
  constexpr std::uint64_t usual = 32 << 20;  // if the system does not report it
  return bytes > (device().info().cache != 0 ? device().info().cache : usual);
}

void queue::share_tiles(std::uint64_t count, const std::function<void(std::uint64_t, unsigned)>& body) {
  std::atomic<std::uint64_t> next{0};
  const unsigned workers = static_cast<unsigned>(std::min<std::uint64_t>(threads_, count));
  const auto work = [&](unsigned worker) {
    try {
      for (std::uint64_t tile = next++; tile < count; tile = next++) body(tile, worker);
    } catch (...) {
      next = count;
      throw;
    }
  };
  team_->run(workers, std::cref(work));
}

memory queue::allocate(std::uint64_t bytes) {
  alignas(256) static char nothing[1];
  if (bytes == 0) return {nothing, 0, 0};
  return {pool_.take(bytes), pool::header_bytes, bytes};
}

void queue::release(memory what) noexcept {
  if (what.offset == pool::header_bytes) pool_.give(what.base);  // wrapped memory begins at its base
}

memory queue::wrap(void* native, std::uint64_t bytes) { return {native, 0, bytes}; }

void queue::upload(memory to, const void* from, std::uint64_t bytes) {
  if (bytes != 0) std::memcpy(to.as<char>(), from, bytes);
}

void queue::download(void* to, memory from, std::uint64_t bytes) {
  if (bytes != 0) std::memcpy(to, from.as<char>(), bytes);
}

void queue::copy(memory to, memory from, std::uint64_t bytes) {
  const std::uint64_t slice = (bytes / threads_ + 4095) / 4096 * 4096 + 4096;
  for_each_tile(ceil_div(bytes, slice), [&](std::uint64_t i, unsigned) {
    char* const target = to.as<char>() + i * slice;
    const char* const source = from.as<char>() + i * slice;
    const std::uint64_t count = std::min(slice, bytes - i * slice);
    if (exceeds_cache(2 * bytes))
      copy_streaming(level_, target, source, count);
    else
      std::memcpy(target, source, count);
  });
}

void queue::copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                      std::uint64_t rows) {
  if (width == to_stride && width == from_stride) return copy(to, from, width * rows);
  const std::uint64_t slice = rows / threads_ + 1;
  for_each_tile(ceil_div(rows, slice), [&](std::uint64_t tile, unsigned) {
    for (std::uint64_t i = tile * slice; i < std::min(rows, (tile + 1) * slice); ++i)
      std::memcpy(to.as<char>() + i * to_stride, from.as<char>() + i * from_stride, width);
  });
}

void queue::start_clock() { clock_started_ = std::chrono::steady_clock::now().time_since_epoch().count(); }

double queue::stop_clock() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count() - clock_started_);
}

}  // namespace tilewise::backend::cpu
