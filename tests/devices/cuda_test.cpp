// SPDX-License-Identifier: Apache-2.0
// Requirements on the CUDA backend alone that need a GPU. The bits of its kernels are tested from the catalog.
#include "backend/probe.hpp"
#include "cuda_fixture.hpp"
#include "helpers.hpp"
#include "registry/catalog.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>

#include <unistd.h>

namespace tilewise {
namespace {

using tests::code_of;
using tests::wide_floats;

std::vector<float> host_scan(const std::vector<float>& values) {
  std::vector<float> result(values.size());
  inclusive_scan(values, result);
  return result;
}

class Cuda : public tests::cuda_device_test {};

TEST_F(Cuda, ArithmeticIsWhatTheOrderNeeds) { EXPECT_EQ(backend::probe(device_->queue()), std::vector<std::string>{}); }

TEST_F(Cuda, WorksInTheOrderOfTheCallersStreamOnTheCallersMemory) {
  const std::vector<float> x = wide_floats(1 << 22);
  const std::uint64_t bytes = x.size() * sizeof(float);
  cudaStream_t stream = nullptr;
  float *memory = nullptr, *pinned = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, bytes), cudaSuccess);
  std::memcpy(pinned, x.data(), bytes);
  for (cudaStream_t queue : {stream, cudaStream_t{nullptr}}) {
    const device gpu = from_cuda_stream(0, queue);
    array<float> values = view<float>(gpu, memory, x.size());
    EXPECT_EQ(values.native(), memory);
    // Nothing waits between the caller's copies and the scan; only the stream orders them.
    ASSERT_EQ(cudaMemcpyAsync(memory, pinned, bytes, cudaMemcpyHostToDevice, queue), cudaSuccess);
    inclusive_scan(values, values);
    std::vector<float> result(x.size());
    ASSERT_EQ(cudaMemcpyAsync(result.data(), memory, bytes, cudaMemcpyDeviceToHost, queue), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
    tests::expect_bits(result, host_scan(x), "a scan in a stream");
  }
  EXPECT_EQ(cudaFree(memory), cudaSuccess);  // still the caller's
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Cuda, AViewOfAnArrayDoesNotFreeIt) {
  const device gpu = open("cuda:0");
  const std::vector<float> x = wide_floats(5000);
  const array<float> values = gpu.upload(x);
  {
    const array<float> whole = view<float>(gpu, values.native(), values.size());
    EXPECT_EQ(reduce(whole), reduce(x));
  }
  const array<float> other = gpu.upload(wide_floats(5000, 2));
  EXPECT_NE(other.native(), values.native());
  tests::expect_bits(values.download(), x, "what was uploaded");
}

TEST_F(Cuda, AnUploadHasReadItsSourceWhenItReturns) {
  const device gpu = open("cuda:0");
  const std::uint64_t count = 5 << 20;  // several staging buffers
  const std::vector<float> x = wide_floats(count);
  std::vector<float> source = x;
  const array<float> pageable = gpu.upload(source);
  std::fill(source.begin(), source.end(), 0.0f);
  tests::expect_bits(pageable.download(), x, "from pageable memory");

  float* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, count * sizeof(float)), cudaSuccess);
  for (std::uint64_t part : {count, std::uint64_t{1000}}) {
    std::memcpy(pinned, x.data(), count * sizeof(float));
    const array<float> uploaded = gpu.upload(std::span<const float>(pinned, part));
    std::fill(pinned, pinned + count, 0.0f);
    tests::expect_bits(uploaded.download(), {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(part)},
                       "from pinned memory");
  }
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

// Rows of 64 MiB are scanned one by one there. The shapes of the bit tests do not reach that size.
TEST_F(Cuda, LongRowsWithGapsAreScannedAsTheCpuDoes) {
  const device gpu = open("cuda:0");
  const std::uint64_t rows = 2, columns = (std::uint64_t{1} << 24) + 5;
  const matrix_layout apart(rows, columns, columns + 7), wider(rows, columns, columns + 64);
  const std::vector<float> x = wide_floats(rows * apart.stride);
  const array<float> a = gpu.upload(x);
  for (const bool is_exclusive : {false, true}) {
    array<float> y = gpu.upload(std::vector<float>(rows * wider.stride, 42.0f));
    std::vector<float> expected(rows * wider.stride, 42.0f);
    if (is_exclusive) {
      exclusive_scan(along(a, apart, axis::rows), along(y, wider, axis::rows), {.init = 0.5f});
      exclusive_scan(along(x, apart, axis::rows), along(expected, wider, axis::rows), {.init = 0.5f});
    } else {
      inclusive_scan(along(a, apart, axis::rows), along(y, wider, axis::rows));
      inclusive_scan(along(x, apart, axis::rows), along(expected, wider, axis::rows));
    }
    tests::expect_bits(y.download(), expected, is_exclusive ? "exclusive" : "inclusive");
  }
}

// Rows of 2^22 elements are sorted one by one there. Shorter rows, also with a single element in their last tile, and
// columns that become such rows, are merged at once.
TEST_F(Cuda, LongLinesWithGapsAreSortedAsTheCpuDoes) {
  const device gpu = open("cuda:0");
  const std::uint64_t tile = 4191, long_row = (std::uint64_t{1} << 22) + 5;  // the tile of 32-bit keys
  for (const auto& [rows, columns, which] : {std::tuple(std::uint64_t{2}, long_row, axis::rows),
                                             {5, 16 * tile + 1, axis::rows},
                                             {17 * tile, 3, axis::columns}}) {
    const matrix_layout apart(rows, columns, columns + 7), wider(rows, columns, columns + 64);
    const std::vector<float> x = wide_floats(rows * apart.stride);
    const array<float> a = gpu.upload(x);
    array<float> y = gpu.upload(std::vector<float>(rows * wider.stride, 42.0f));
    std::vector<float> expected(rows * wider.stride, 42.0f);
    tilewise::sort(along(a, apart, which), along(y, wider, which));
    tilewise::sort(along(x, apart, which), along(expected, wider, which));
    tests::expect_bits(y.download(), expected, std::to_string(rows) + "x" + std::to_string(columns));
  }
}

/// `n` of the special values, with ties, and with each order's greatest codes, which must stay before the codes that
/// fill unused lanes. Also to indices, and in place.
template <class T>
void expect_sorted_as_the_cpu_does(const device& gpu, const std::string& by, std::uint64_t n) {
  const auto special = tests::special_values<T>();
  std::vector<T> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) keys[i] = special[i * 2654435761u % special.size()];
  for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
    const std::string name = by + " of " + std::to_string(n);
    std::vector<T> sorted = keys;
    array<T> on_gpu = gpu.upload(keys);
    const auto indices = argsort(on_gpu, {.order = order, .variant = by});
    tests::expect_bits(indices.download(), argsort(keys, {.order = order}), name + " to indices");
    sort(on_gpu, on_gpu, {.order = order, .variant = by});
    sort(sorted, sorted, {.order = order});
    tests::expect_bits(on_gpu.download(), sorted, name + " in place");
  }
}

// One group sorts keys that fit it, with as many lanes as that needs; each lane has eight or nine keys. Tests sizes
// around those at which the number of lanes doubles.
TEST_F(Cuda, FewKeysAreSortedAsTheCpuDoes) {
  const device gpu = open("cuda:0");
  constexpr std::uint64_t most_lanes = 512;
  for (const auto& [by, held] : {std::pair("radix", 8), {"radix", 9}, {"merge_path", 8}, {"merge_path", 9}})
    for (std::uint64_t lanes = 1; lanes <= most_lanes; lanes *= 2)
      for (const std::uint64_t n : {lanes * held - 1, lanes * held, lanes * held + 1})
        expect_sorted_as_the_cpu_does<double>(gpu, by, n);
}

// Each group of a cluster sorts a piece and ranks it in all others. A piece has 512 elements, or 1024 if there would be
// too many pieces. Tests sizes around each number of pieces.
TEST_F(Cuda, PiecesAreRankedInEachOther) {
  const device gpu = open("cuda:0");
  constexpr std::uint64_t most_groups = 16;
  for (const std::uint64_t piece : {512u, 1024u})
    for (std::uint64_t groups = 1; groups <= most_groups; ++groups)
      for (const std::uint64_t n : {groups * piece - 1, groups * piece, groups * piece + 1}) {
        expect_sorted_as_the_cpu_does<float>(gpu, "radix", n);
        expect_sorted_as_the_cpu_does<double>(gpu, "radix", n);
      }
}

/// Large enough that pieces of other GPUs' runs are merged while later pieces are copied: two pieces per rank, and ten.
TEST_F(Cuda, GroupsOfGpusMergeInPiecesAsTheCpuSorts) {
  std::string none;
  if (backend::cuda::devices(none).size() < 2) GTEST_SKIP() << "needs two GPUs";
  const device gpus = open("cuda:*");
  const std::uint64_t ranks = ranks_of(gpus).count;
  for (const std::uint64_t each : {std::uint64_t{1} << 22, std::uint64_t{1} << 25})
    for (const bool has_ties : {false, true}) {
      std::vector<float> keys = wide_floats(ranks * each + 5);
      for (std::uint64_t i = 0; has_ties && i < keys.size(); ++i) keys[i] = static_cast<float>(i * 2654435761u % 3);
      array<std::uint32_t> indices = gpus.allocate<std::uint32_t>(keys.size());
      argsort(gpus.upload(keys), indices);
      std::vector<std::uint32_t> expected(keys.size());
      argsort(std::span<const float>(keys), std::span(expected));
      EXPECT_TRUE(indices.download() == expected) << keys.size() << (has_ties ? " with ties" : "");
    }
}

TEST_F(Cuda, FreedMemoryServesTheNextArray) {
  const device gpu = open("cuda:0");
  const void* first = gpu.allocate<float>(100000).native();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 256, 0u);
  EXPECT_EQ(gpu.allocate<float>(100001).native(), first);  // the same size class
  const array<float> held = gpu.allocate<float>(100000);
  EXPECT_NE(gpu.allocate<float>(100000).native(), held.native());
  EXPECT_EQ(gpu.allocate<float>(0).download().size(), 0u);
}

TEST_F(Cuda, TooMuchIsOutOfMemoryAndTheDeviceGoesOn) {
  const device gpu = open("cuda:0");
  EXPECT_EQ(code_of([&] { gpu.allocate<float>(std::uint64_t{1} << 50); }), errc::out_of_memory);
  EXPECT_EQ(code_of([&] { gpu.allocate<double>(~std::uint64_t{0}); }), errc::out_of_memory);
  EXPECT_EQ(code_of([&] { gpu.allocate<float>((std::uint64_t{1} << 62) - 1); }), errc::out_of_memory);
  const std::vector<float> x = wide_floats(1000);
  EXPECT_EQ(reduce(gpu.upload(x)), reduce(x));
}

/// Loses the device by a kernel that reads an invalid address, as a caller's mistake would. If anything differs from
/// what is expected, the process ends with another code. It ends like any program that still has objects on the device.
[[noreturn]] void use_a_lost_device() {
  alarm(60);  // nothing may hang
  const device gpu = open("cuda:0"), cpu = open("cpu");
  const std::vector<float> x = wide_floats(100000);
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  static array<float> values = gpu.upload(x);
  static const array<float> beyond = view<float>(gpu, static_cast<char*>(values.native()) + far, x.size());
  const auto is_lost = [](const auto& call) {
    try {
      call();
    } catch (const error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return e.code() == errc::device_lost;
    }
    return false;
  };
  const float expected = reduce(x, {.device = cpu});
  if (!is_lost([] { reduce(beyond); })) std::exit(1);
  if (!is_lost([] { reduce(values); })) std::exit(2);
  if (!is_lost([] { values.download(); })) std::exit(3);
  if (!is_lost([&] { gpu.upload(x); })) std::exit(4);
  if (!is_lost([&] { inclusive_scan(x, {.device = open("cuda:0")}); })) std::exit(5);
  if (reduce(x, {.device = cpu}) != expected) std::exit(6);
  std::exit(0);
}

TEST_F(Cuda, ALostDeviceSaysSoAndTheCpuGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in its own process, since it loses the device
  EXPECT_EXIT(use_a_lost_device(), testing::ExitedWithCode(0), "this process can no longer use the device");
}

/// Elements around 2^32 differ, beyond the reach of 32-bit indices. All others are equal, so that P(n) is known.
TEST_F(Cuda, SizesBeyondTwoToThe32) {
  const device gpu = open("cuda:0");
  const std::uint64_t two32 = std::uint64_t{1} << 32, n = two32 + 5;
  if (gpu.info().memory < 3 * n * sizeof(std::uint32_t)) GTEST_SKIP() << "needs 52 GB of device memory";
  array<std::uint32_t> x = gpu.allocate<std::uint32_t>(n);
  auto* const first = static_cast<std::uint32_t*>(x.native());
  const auto refill = [&] {
    gpu.finish();
    ASSERT_EQ(cudaMemset(first, 1, n * sizeof(std::uint32_t)), cudaSuccess);
    const std::uint32_t tail[] = {10, 200, 3000, 40000, 500000};
    ASSERT_EQ(cudaMemcpy(first + two32, tail, sizeof tail, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  };
  const std::vector<std::uint32_t> expected{0xfefefeffu, 0, 10, 210, 3210, 43210, 543210};  // 2^32 * 0x01010101 wraps
  refill();
  EXPECT_EQ(reduce(x), expected.back());
  for (const registry::variant* v : registry::variants_of(registry::find_algorithm("scan"))) {
    if (v->backend != "cuda") continue;
    refill();
    inclusive_scan(x, x, {.variant = v->id()});
    EXPECT_EQ(view<std::uint32_t>(gpu, first + two32 - 2, 7).download(), expected) << v->id();
  }
}

}  // namespace
}  // namespace tilewise
