// SPDX-License-Identifier: Apache-2.0
// Sizes around 2^31 and 2^32, where 32-bit indices wrap. They run only with TILEWISE_TEST_BIG=all, or with the name of
// a device such as TILEWISE_TEST_BIG=cuda:0, since an array takes 16 GiB. All processors compare the result slice by
// slice with the definition, on regenerated data.
#include "backend/backend.hpp"
#include "base/ceil_div.hpp"
#include "call/execute.hpp"
#include "lab/verify/generate.hpp"
#include "order/block_stack.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

constexpr std::uint64_t two31 = std::uint64_t{1} << 31, two32 = std::uint64_t{1} << 32;
constexpr std::array big_sizes{two31 - 1, two31 + 1, two32 - 1, two32 + 1, two32 + 5};
constexpr unsigned slice_level = 20;
constexpr std::uint64_t slice = std::uint64_t{1} << slice_level;

constexpr auto class_of_data = lab::data_class::uniform;  // any change of the order changes the bits of sums
constexpr std::uint64_t seed = 1;
using stack = order::block_stack<float, order::sum>;

/// Calls body(s) for each slice s below `count`, on all processors.
template <class F>
void for_each_slice(std::uint64_t count, F body) {
  std::atomic<std::uint64_t> next{0};
  std::vector<std::thread> team;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    team.emplace_back([&] {
      for (std::uint64_t s = next++; s < count; s = next++) body(s);
    });
  for (std::thread& member : team) member.join();
}

std::vector<float> slice_values(std::uint64_t s, std::uint64_t n) {
  std::vector<float> values(std::min(slice, n - s * slice));
  lab::generate(class_of_data, seed, dtype::f32, s * slice, values.size(), values.data());
  return values;
}

/// The stack before each slice, and the one after the last.
std::vector<stack> stacks_of(std::uint64_t n) {
  const std::uint64_t slices = ceil_div(n, slice);
  std::vector<stack> own(slices), before(slices + 1);
  for_each_slice(slices, [&](std::uint64_t s) {
    for (float value : slice_values(s, n)) own[s].push(value);
  });
  for (std::uint64_t s = 0; s < slices; ++s) {
    before[s + 1] = before[s];
    if (own[s].count() == slice)
      before[s + 1].push(own[s].fold(), slice_level);
    else
      for (float value : slice_values(s, n)) before[s + 1].push(value);
  }
  return before;
}

std::uint64_t available_memory() {
  std::ifstream facts("/proc/meminfo");
  for (std::string word; facts >> word;)
    if (std::uint64_t kib = 0; word == "MemAvailable:" && facts >> kib) return kib * 1024;
  return 0;
}

/// Why this machine cannot run n elements on this device; empty if it can.
std::string too_big(std::uint64_t n, const device_info& info) {
  const std::uint64_t bytes = n * sizeof(float);
  const bool shares_host = info.is_cpu;  // an OpenCL CPU device keeps a second copy in the same memory
  const std::uint64_t need = bytes * (shares_host && info.backend != "cpu" ? 2 : 1) + (std::uint64_t{1} << 30);
  if (need > available_memory())
    return "needs " + std::to_string(need) + " bytes of memory, there are " + std::to_string(available_memory());
  if (bytes > info.max_allocation && info.max_allocation != 0)
    return info.name + " allocates at most " + std::to_string(info.max_allocation) + " bytes at once";
  if (bytes > info.memory) return info.name + " has " + std::to_string(info.memory) + " bytes";
  return "";
}

std::vector<float> all_values(std::uint64_t n) {
  std::vector<float> values(n);
  for_each_slice(ceil_div(n, slice), [&](std::uint64_t s) {
    const std::uint64_t first = s * slice;
    lab::generate(class_of_data, seed, dtype::f32, first, std::min(slice, n - first), values.data() + first);
  });
  return values;
}

/// The first index at which the inclusive scan in `got` differs from the definition's; n if there is none.
std::uint64_t first_difference(const std::vector<float>& got, const std::vector<stack>& before) {
  const std::uint64_t n = got.size();
  std::atomic<std::uint64_t> first{n};
  for_each_slice(before.size() - 1, [&](std::uint64_t s) {
    stack blocks = before[s];
    const std::vector<float> values = slice_values(s, n);
    for (std::uint64_t i = 0; i < values.size() && first == n; ++i) {
      blocks.push(values[i]);
      const float expected = blocks.fold();
      if (std::memcmp(&expected, &got[s * slice + i], sizeof expected) != 0) first = s * slice + i;
    }
  });
  return first;
}

registry::problem sum_of(std::string_view algorithm, std::uint64_t n) {
  return {.what = &registry::find_algorithm(algorithm), .type = dtype::f32, .shape = {n}};
}

/// Scans in place and returns the scan, or returns the single value of a reduction.
std::vector<float> run(const registry::variant& v, const registry::problem& p, const registry::tuning& t,
                       backend::queue& queue) {
  std::vector<float> values = all_values(p.n()), value(1);
  std::vector<float>& result = p.what->in_place ? values : value;
  const void* in[] = {values.data()};
  void* out[] = {result.data()};
  call::run_on_host(p, {&v, t, "tried"}, queue, in, out);
  return std::move(result);
}

void expect_definition(const registry::variant& v, backend::device& on, std::uint64_t n,
                       const std::vector<stack>& before) {
  const registry::problem p = sum_of(v.algorithm, n);
  const registry::tuning t = registry::default_tuning(v.tuning);
  const std::string name = v.id() + " on " + on.info().name + ", n=" + std::to_string(n);
  std::string why = too_big(n, on.info());
  if (why.empty()) why = registry::unsupported_reason(v, p, on, t);
  if (!why.empty()) {
    std::cout << "  skipped " << name << ": " << why << "\n";
    return;
  }
  const std::vector<float> result = run(v, p, t, on.queue());
  if (p.what->in_place) {
    EXPECT_EQ(first_difference(result, before), n) << name << ": the first index that differs";
  } else {
    const float expected = before.back().fold();
    EXPECT_EQ(std::memcmp(&expected, result.data(), sizeof expected), 0) << name << ": " << result[0];
  }
  std::cout << "  " << name << "\n";
}

}  // namespace

TEST(Big, ReductionsAndScansBeyond32BitIndices) {
  const char* wanted = std::getenv("TILEWISE_TEST_BIG");
  if (wanted == nullptr || *wanted == '\0') GTEST_SKIP() << "TILEWISE_TEST_BIG=all runs it, =cuda:0 on that device";
  std::vector<std::shared_ptr<backend::device>> all{backend::find_device("cpu", {})};
  for (const backend::runtime& r : backend::runtimes()) {
    std::string why_none;
    if (r.name != "cpu")
      for (const auto& found : r.devices(why_none)) all.push_back(found);
  }
  std::erase_if(all, [&](const auto& on) { return std::string(wanted) != "all" && on->info().name != wanted; });
  ASSERT_FALSE(all.empty()) << "no device is called " << wanted;
  for (std::uint64_t n : big_sizes) {
    std::vector<stack> before;
    for (const auto& on : all)
      for (const registry::variant& v : registry::variants()) {
        if (v.peer || v.backend == "serial" || v.device_backend() != on->info().backend) continue;
        if (v.algorithm != "reduce" && v.algorithm != "scan") continue;
        if (before.empty() && too_big(n, on->info()).empty()) before = stacks_of(n);
        expect_definition(v, *on, n, before);
      }
  }
}

}  // namespace tilewise::tests
