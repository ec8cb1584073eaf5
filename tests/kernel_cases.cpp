// SPDX-License-Identifier: Apache-2.0
// Small cases of CUDA's kernels, for tools that watch every access (sanitizer_campaign.py).
//   tilewise-kernel-cases --list | --fault NAME | VARIANT COUNT [TUNING]
// Operands lie in memory of exactly their size, and what kernels need for themselves is new at each call, so that
// nothing but what belongs to them is theirs, and nothing is set that they did not set.
#include "catalog_sweep.hpp"
#include "guarded_operand.hpp"
#include "kernel_faults.hpp"

#include <cstdio>
#include <set>

#include <cuda_runtime_api.h>

// CMakeLists.txt links with --wrap for these two: the pool takes memory from cudaMalloc, and keeps none.
extern "C" cudaError_t __real_cudaDeviceGetAttribute(int* to, cudaDeviceAttr which, int ordinal);
extern "C" cudaError_t __wrap_cudaDeviceGetAttribute(int* to, cudaDeviceAttr which, int ordinal);
extern "C" cudaError_t __wrap_cudaDeviceGetAttribute(int* to, cudaDeviceAttr which, int ordinal) {
  const cudaError_t status = __real_cudaDeviceGetAttribute(to, which, ordinal);
  if (which == cudaDevAttrMemoryPoolsSupported) *to = 0;
  return status;
}
extern "C" cudaError_t __wrap_cudaMemGetInfo(std::size_t* unused, std::size_t* total);
extern "C" cudaError_t __wrap_cudaMemGetInfo(std::size_t* unused, std::size_t* total) {
  *unused = *total = 0;
  return cudaSuccess;
}

namespace tilewise::tests {

namespace {

constexpr std::string_view device = "cuda:0";

std::shared_ptr<void> exactly(std::uint64_t bytes) {
  void* made = nullptr;
  if (cudaMalloc(&made, std::max<std::uint64_t>(bytes, 1)) != cudaSuccess) throw std::bad_alloc();
  return {made, [](void* memory) { static_cast<void>(cudaFree(memory)); }};
}

std::vector<sweep_target> targets() {
  std::vector<sweep_target> all;
  for (const sweep_target& t : sweep_targets())
    if (t.device == device) all.push_back(t);
  return all;
}

/// What a variant of another order gives is compared within a bound, which is for larger results than these.
bool is_held_to_bits(const registry::variant& v) { return v.order != registry::claim::own; }

/// As many different shapes, or as many cases where there are fewer; the same in every run. `tuning`, if any, for all.
std::uint64_t try_cases(const sweep_target& target, std::uint64_t count, const std::string& tuning,
                        std::uint64_t& found) {
  sweep_runner runner(target);
  std::mt19937_64 of_program(count), random(count + 1);
  std::set<std::array<std::uint64_t, 8>> shapes;
  std::uint64_t cases = 0;
  for (std::uint64_t tried = 0; cases < count && tried < 100 * count; ++tried) {
    sweep_case c = random_case(target, of_program, random);
    if (!tuning.empty()) c.tuning = registry::parse_tuning(tuning, target.variant.tuning);
    std::array<std::uint64_t, 8> shape{};
    std::copy_n(c.problem.shape.size.begin(), c.problem.shape.rank, shape.begin());
    if (!runner.unsupported(c).empty() || (!shapes.insert(shape).second && tried < 10 * count)) continue;
    ++cases;
    std::string wrong;
    try {
      wrong = runner.run(c);
    } catch (const std::exception& e) {
      wrong = e.what();
    }
    if (wrong.empty() || (!is_held_to_bits(target.variant) && wrong.find(" differ; ") != wrong.npos)) continue;
    ++found;
    std::printf("%s: %s\n", to_string(c, target).c_str(), wrong.c_str());
  }
  return cases;
}

int run(const std::vector<std::string>& words) {
  if (words.at(0) == "--fault") return run_kernel_fault(words.at(1)), 0;
  exact_memory = exactly;
  std::uint64_t cases = 0, found = 0;
  for (const sweep_target& target : targets())
    if (words[0] == "--list")
      std::printf("%s\n", target.variant.id().c_str());
    else if (words[0] == target.variant.id())
      cases += try_cases(target, std::stoull(words.at(1)), words.size() > 2 ? words[2] : "", found);
  if (words[0] != "--list")
    std::printf("%llu cases, %llu found\n", static_cast<unsigned long long>(cases),
                static_cast<unsigned long long>(found));
  return found != 0;
}

}  // namespace

}  // namespace tilewise::tests

int main(int argc, char** argv) {
  try {
    return tilewise::tests::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tilewise-kernel-cases: %s\n", e.what());
    return 2;
  }
}
