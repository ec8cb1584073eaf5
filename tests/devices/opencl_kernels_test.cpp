// SPDX-License-Identifier: Apache-2.0
// Every OpenCL kernel at sizes of all shapes. scripts/check_kernels runs these under Oclgrind. ctest leaves them out,
// since the bit tests run each kernel with more tunings.
#include "backend/opencl/queue.hpp"
#include "lab/verify/verify.hpp"
#include "opencl_fixture.hpp"

#include <algorithm>
#include <cctype>

namespace tilewise::tests {
namespace {

using OpenclKernels = opencl_device_test;

// Small tiles, so that few elements reach every level, short and whole tiles, and several chunks. Each test has one
// program, since scripts/check_kernels runs each in its own process under Oclgrind, which cannot handle a second one.
struct kernel_shape {
  const char* variant;
  const char* tuning;
  dtype type;
  registry::extents extent;
  // Of some of the settings, where each value is a separate program, or has short operands: to Oclgrind, whatever uses
  // a buffer after them is as long as what the host last wrote there.
  std::string_view value = {};
};

/// The name that scripts/check_kernels prints for a fault: "scan_opencl_blelloch_group_size_4_f32_131".
std::string name_of_shape(const testing::TestParamInfo<kernel_shape>& info) {
  const auto& [variant, tuning, type, extent, value] = info.param;
  std::string name = std::string(variant) + "_" + tuning + "_" + std::string(name_of(type)) + "_" + to_string(extent) +
                     (value.empty() ? "" : "_") + std::string(value);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// Whether the problem has the value that the shape names, in each setting that knows it. One operator is enough, since
/// operators access memory alike.
bool is_meant(const registry::problem& p, const kernel_shape& shape) {
  for (std::size_t s = 0; s < p.what->settings.size(); ++s) {
    const auto& values = p.what->settings[s].values;
    const auto named = std::find(values.begin(), values.end(), shape.value);
    if (named != values.end() ? values[p.setting[s]] != shape.value : s == 0 && p.setting[s] != 0) return false;
  }
  return true;
}

class OpenclShapes : public OpenclKernels, public testing::WithParamInterface<kernel_shape> {};

TEST_P(OpenclShapes, HaveTheBitsOfTheDefinition) {
  const kernel_shape& shape = GetParam();
  const registry::variant& v = registry::find_variant(shape.variant);
  const registry::tuning t = registry::parse_tuning(shape.tuning, v.tuning);
  bool tried = false;
  for (const registry::problem& p :
       lab::problems_at(registry::find_algorithm(v.algorithm), shape.type, shape.extent, 1)) {
    if (!is_meant(p, shape) || !registry::unsupported_reason(v, p, *device, t).empty()) continue;
    const auto c = lab::make_case(p, lab::data_class::wide, 1);
    EXPECT_TRUE(lab::verify(c, {&v, t, ""}, device->queue()).ok) << to_string(p);
    tried = true;
  }
  if (!tried) GTEST_SKIP() << "the device cannot run it";
}

const kernel_shape all_shapes[] = {
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, {0}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, {1}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, {511}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, {512}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, {513}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, {1541}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f64, {7}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f64, {512}},
    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f64, {1541}},
    kernel_shape{"reduce/opencl:single_pass", "group_size=64 item_bytes=32", dtype::f32, {0}},
    kernel_shape{"reduce/opencl:single_pass", "group_size=64 item_bytes=32", dtype::f32, {511}},
    kernel_shape{"reduce/opencl:single_pass", "group_size=64 item_bytes=32", dtype::f32, {512}},
    kernel_shape{"reduce/opencl:single_pass", "group_size=64 item_bytes=32", dtype::f32, {1541}},
    kernel_shape{"reduce/opencl:single_pass", "group_size=64 item_bytes=32", dtype::f64, {255}},
    kernel_shape{"reduce/opencl:single_pass", "group_size=64 item_bytes=32", dtype::f64, {1541}},
    kernel_shape{"reduce_axis/opencl", "group_size=64 items=8", dtype::f32, {0, 5}},
    kernel_shape{"reduce_axis/opencl", "group_size=64 items=8", dtype::f32, {5, 0}},
    kernel_shape{"reduce_axis/opencl", "group_size=64 items=8", dtype::f32, {3, 2}},
    kernel_shape{"reduce_axis/opencl", "group_size=64 items=8", dtype::f32, {70, 33}},
    kernel_shape{"reduce_axis/opencl", "group_size=64 items=8", dtype::f32, {33, 70, 71}},
    kernel_shape{"reduce_axis/opencl", "group_size=64 items=8", dtype::f32, {2, 1541}},
    kernel_shape{"reduce_axis/opencl", "group_size=64 items=8", dtype::f64, {1541, 2}},
    kernel_shape{"scan_axis/opencl", "group_size=64 items=8", dtype::f32, {0, 5}},
    kernel_shape{"scan_axis/opencl", "group_size=64 items=8", dtype::f32, {3, 2}},
    kernel_shape{"scan_axis/opencl", "group_size=64 items=8", dtype::f32, {70, 33}},
    kernel_shape{"scan_axis/opencl", "group_size=64 items=8", dtype::f32, {33, 70, 71, 73}},
    kernel_shape{"scan_axis/opencl", "group_size=64 items=8", dtype::f32, {2, 1100}},
    kernel_shape{"scan_axis/opencl", "group_size=64 items=8", dtype::f64, {1100, 2}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f32, {0, 5}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f32, {3, 2}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f32, {70, 33}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f32, {33, 70, 71, 73}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f32, {300, 3}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f32, {2, 1541}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f64, {1100, 2}},
    kernel_shape{"sort_axis/opencl", "group_size=64", dtype::f64, {2, 4301}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {0, 5}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {3, 0}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {3, 7}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {70, 12}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {2, 512}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {3, 2048}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {2, 513}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {3, 2052}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {1, 1541}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {5, 33, 40}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {9, 1028}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f32, {9, 519, 521}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f64, {33, 7}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::f64, {2, 1541}},
    kernel_shape{"matvec/opencl", "group_size=64 items=8", dtype::i32, {2, 3000, 3001}},
    kernel_shape{"sort/opencl:onesweep", "rows=8", dtype::f32, {1}, "none"},
    kernel_shape{"sort/opencl:onesweep", "rows=8", dtype::f32, {4099}, "none"},
    kernel_shape{"sort/opencl:onesweep", "rows=8", dtype::u32, {4096}, "indices"},
    kernel_shape{"sort/opencl:onesweep", "rows=8", dtype::f32, {2049}, "values64"},
    kernel_shape{"sort/opencl:onesweep", "rows=8", dtype::u32, {20481}, "none"},
    kernel_shape{"sort/opencl:onesweep", "rows=16", dtype::f64, {4097}, "values64"},
    kernel_shape{"sort/opencl:onesweep", "rows=8 digits=planned", dtype::u64, {150}, "none"},
    kernel_shape{"sort/opencl:onesweep", "rows=8 digits=planned", dtype::f64, {4099}, "values64"},
    kernel_shape{"sort/opencl:radix", "group_size=64", dtype::f32, {1}, "none"},
    kernel_shape{"sort/opencl:radix", "group_size=64", dtype::f32, {961}, "none"},
    kernel_shape{"sort/opencl:radix", "group_size=64", dtype::f32, {960}, "indices"},
    kernel_shape{"sort/opencl:radix", "group_size=64", dtype::f32, {1541}, "values64"},
    kernel_shape{"sort/opencl:radix", "digit_bits=6 group_size=64", dtype::f32, {961}, "none"},
    kernel_shape{"sort/opencl:radix", "group_size=64", dtype::f64, {961}, "values64"},
    kernel_shape{"sort/opencl:radix", "group_size=64", dtype::u32, {31681}, "none"},
    kernel_shape{"sort/opencl:radix", "group_size=64 spine=launch", dtype::u32, {1541}, "none"},
    kernel_shape{"sort/opencl:merge_path", "group_size=64", dtype::f32, {1}, "none"},
    kernel_shape{"sort/opencl:merge_path", "group_size=64", dtype::f32, {961}, "none"},
    kernel_shape{"sort/opencl:merge_path", "group_size=64", dtype::f32, {960}, "indices"},
    kernel_shape{"sort/opencl:merge_path", "group_size=64 split=launch", dtype::f32, {1541}, "indices"},
    kernel_shape{"sort/opencl:merge_path", "group_size=64", dtype::f32, {1541}, "values64"},
    kernel_shape{"sort/opencl:merge_path", "group_size=64 split=launch", dtype::f64, {1921}, "none"},
    kernel_shape{"sort/opencl:merge_path", "group_size=64", dtype::f64, {1541}, "values64"},
    kernel_shape{"sort/opencl:merge_rank", "group_size=32", dtype::f32, {1}, "none"},
    kernel_shape{"sort/opencl:merge_rank", "group_size=32", dtype::f32, {2}, "indices"},
    kernel_shape{"sort/opencl:merge_rank", "group_size=32", dtype::f32, {67}, "values64"},
    kernel_shape{"sort/opencl:merge_rank", "group_size=32", dtype::f64, {131}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {1}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {7}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {511}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {511}, "given"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {512}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {512}, "given"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {513}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {1541}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, {1541}, "given"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f64, {7}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f64, {512}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f64, {1541}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f64, {1541}, "given"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8 chunk=64Ki", dtype::i32, {65536 + 513}, "none"},
    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8 chunk=64Ki", dtype::i32, {65536 + 513}, "given"},
    kernel_shape{"scan/opencl:lookback", "group_size=64 item_bytes=32", dtype::f32, {1}, "none"},
    kernel_shape{"scan/opencl:lookback", "group_size=64 item_bytes=32", dtype::f32, {512}, "none"},
    kernel_shape{"scan/opencl:lookback", "group_size=64 item_bytes=32", dtype::f32, {1541}, "given"},
    kernel_shape{"scan/opencl:lookback", "group_size=64 item_bytes=32", dtype::f32, {33 * 512 + 5}, "none"},
    kernel_shape{"scan/opencl:lookback", "group_size=64 item_bytes=32", dtype::f64, {1541}, "none"},
    kernel_shape{"scan/opencl:lookback", "group_size=64 item_bytes=32", dtype::f64, {513}, "given"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {1}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {7}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {7}, "given"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {8}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {8}, "given"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {9}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {65}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {131}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, {131}, "given"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, {1}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, {8}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, {65}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, {65}, "given"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, {131}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, {131}, "given"},
    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, {1}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, {1}, "given"},
    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, {2}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, {3}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, {29}, "none"},
    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, {29}, "given"},
    kernel_shape{"matmul/opencl:simple", "group=16x16", dtype::f32, {17, 35, 3}},
    kernel_shape{"matmul/opencl:simple", "group=1x1", dtype::f64, {2, 3, 4, 5, 6, 7}},
    kernel_shape{"matmul/opencl:blocked16", "", dtype::f32, {16, 16, 16}},
    kernel_shape{"matmul/opencl:blocked16", "", dtype::f64, {17, 35, 41}},
    kernel_shape{"matmul/opencl:blocked16", "", dtype::i32, {3, 5, 7, 9, 11, 13}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=32x32", dtype::f32, {1, 1, 1}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=32x32", dtype::f32, {32, 32, 64}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=32x32", dtype::f64, {33, 35, 41}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=32x64", dtype::f64, {40, 70, 20, 22, 72, 74}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=64x64", dtype::f32, {65, 66, 17}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=64x64", dtype::f64, {64, 64, 16}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=64x128", dtype::f32, {64, 128, 33}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=128x128", dtype::f64, {130, 129, 9}},
    kernel_shape{"matmul/opencl:register_tiles", "tile=128x256", dtype::f32, {129, 257, 9, 12, 260, 260}},
    kernel_shape{"polymul/opencl:global", "group_size=64", dtype::f32, {3, 5}},
    kernel_shape{"polymul/opencl:global", "group_size=64", dtype::i64, {40, 33}, "given"},
    kernel_shape{"polymul/opencl:local", "group_size=64", dtype::f64, {40, 33}},
    kernel_shape{"polymul/opencl:local", "group_size=64", dtype::f32, {300, 7}},
    kernel_shape{"polymul/opencl:local", "group_size=64", dtype::i32, {3, 5}, "given"},
    kernel_shape{"polymul/opencl:tiles", "items=4 chains=scalars", dtype::f32, {3, 5}},
    kernel_shape{"polymul/opencl:tiles", "items=4 chains=scalars", dtype::f32, {300, 7}},
    kernel_shape{"polymul/opencl:tiles", "items=4 chains=lanes", dtype::f64, {200, 330}},
    kernel_shape{"polymul/opencl:tiles", "items=8 chains=lanes", dtype::i32, {40, 33}},
    kernel_shape{"polymul/opencl:tiles", "items=8", dtype::i64, {7, 600}, "given"},
    kernel_shape{"polymul/opencl:tiles", "items=16 group_size=128 chains=scalars", dtype::f32, {40, 33}},
    kernel_shape{"polymul/opencl:karatsuba", "base=64 depth=3", dtype::i32, {300, 250}},
    kernel_shape{"polymul/opencl:karatsuba", "base=64 depth=3", dtype::i64, {200, 259}},
    kernel_shape{"polymul/opencl:ntt", "", dtype::i32, {300, 250}},
    kernel_shape{"convolve/opencl:simple", "", dtype::f32, {9, 35, 3, 5}, "zero"},
    kernel_shape{"convolve/opencl:simple", "", dtype::f64, {17, 33, 5, 3}, "valid"},
    kernel_shape{"convolve/opencl:tiles", "rows=2", dtype::f32, {17, 131, 3, 3}, "zero"},
    kernel_shape{"convolve/opencl:tiles", "rows=8", dtype::f64, {67, 66, 3, 3}, "valid"},
    kernel_shape{"convolve/opencl:tiles", "rows=4", dtype::f32, {37, 133, 5, 5}, "valid"},
    kernel_shape{"convolve/opencl:tiles", "rows=2", dtype::f64, {5, 66, 5, 5}, "zero"},
    kernel_shape{"convolve/opencl:blocks", "", dtype::f32, {37, 140, 5, 5}, "valid"},
    kernel_shape{"convolve/opencl:blocks", "", dtype::f64, {34, 66, 3, 3}, "valid"},
    kernel_shape{"convolve/opencl:blocks", "", dtype::f32, {9, 131, 7, 7}, "zero"},
    kernel_shape{"convolve/opencl:tiles", "rows=2", dtype::f32, {3, 2, 1, 1}, "valid"},
    kernel_shape{"segment_reduce/opencl", "group_size=64 items=8", dtype::f32, {0, 5}},
    kernel_shape{"segment_reduce/opencl", "group_size=64 items=8", dtype::f32, {1541, 700}},
    kernel_shape{"segment_reduce/opencl", "group_size=64 items=8", dtype::f32, {4099, 3}},
    kernel_shape{"segment_reduce/opencl", "group_size=64 items=8", dtype::f64, {1541, 2}},
    kernel_shape{"segment_scan/opencl", "group_size=64 items=8", dtype::f32, {0, 5}},
    kernel_shape{"segment_scan/opencl", "group_size=64 items=8", dtype::f32, {1541, 700}},
    kernel_shape{"segment_scan/opencl", "group_size=64 items=8", dtype::f32, {4099, 3}},
    kernel_shape{"segment_scan/opencl", "group_size=64 items=8", dtype::f64, {1541, 2}},
    kernel_shape{"segment_sort/opencl", "group_size=64 items=8", dtype::f32, {0, 5}, "none"},
    kernel_shape{"segment_sort/opencl", "group_size=64 items=8", dtype::f32, {1541, 700}, "none"},
    kernel_shape{"segment_sort/opencl", "group_size=64 items=8", dtype::f32, {1541, 3}, "indices"},
    kernel_shape{"segment_sort/opencl", "group_size=64 items=8", dtype::f32, {2300, 2}, "values64"},
    kernel_shape{"segment_sort/opencl", "group_size=64 items=8", dtype::f64, {1541, 2}, "none"},
    kernel_shape{"runs/opencl", "group_size=64 items=8", dtype::f32, {1541, 300}},
    kernel_shape{"runs/opencl", "group_size=64 items=8", dtype::f64, {1025, 1025}},
    kernel_shape{"convolve/opencl:tiles", "rows=4", dtype::f64, {34, 20, 7, 9}, "zero"},
    kernel_shape{"diffuse/opencl:registers", "tile=small steps=2", dtype::f32, {64, 65, 3}, "53"},
    kernel_shape{"diffuse/opencl:registers", "tile=small steps=2", dtype::f64, {65, 64, 3}, "93"},
    kernel_shape{"diffuse/opencl:registers", "tile=middle steps=2", dtype::f64, {64, 65, 2}, "95"},
    kernel_shape{"diffuse/opencl:tiles", "width=32 height=16", dtype::f32, {1, 3, 2}, "53"},
    kernel_shape{"diffuse/opencl:tiles", "width=32 height=16", dtype::f64, {40, 33, 3}, "95"},
    kernel_shape{"diffuse/opencl:temporal", "width=32 height=16 steps=2", dtype::f32, {3, 3, 3}, "93"},
    kernel_shape{"diffuse/opencl:temporal", "width=32 height=32 steps=4", dtype::f64, {37, 70, 7}, "95"},
    kernel_shape{"diffuse/opencl:temporal", "width=32 height=16 steps=2", dtype::f32, {20, 33, 5, 40, 70}, "53"}};

/// Radix sorts with more than 32 tiles take a minute under Oclgrind, so they run only if everything is to be tested.
std::vector<kernel_shape> wanted_shapes() {
  std::vector<kernel_shape> wanted;
  for (const kernel_shape& shape : all_shapes)
    if (shape.extent != registry::extents{31681} || test_cover() == cover::all) wanted.push_back(shape);
  return wanted;
}

INSTANTIATE_TEST_SUITE_P(Kernels, OpenclShapes, testing::ValuesIn(wanted_shapes()), name_of_shape);

// Deliberate faults: scripts/check_kernels must find each of them, or finding nothing would mean nothing.
constexpr std::string_view faulty_source = R"(
__kernel void tw_out_of_bounds(__global int* x, ulong count, ulong first_tile) { x[count + get_global_id(0)] = 1; }
__kernel void tw_global_race(__global int* x, ulong count, ulong first_tile) { x[0] = (int)get_global_id(0); }
__kernel void tw_local_race(__global int* x, ulong count, ulong first_tile) {
  __local int shared[4];
  shared[get_local_id(0)] = (int)count;
  x[get_local_id(0)] = shared[3 - get_local_id(0)];
}
__kernel void tw_uninitialised(__global int* x, ulong count, ulong first_tile) {
  __local int unset[4];
  if (count == 0) unset[get_local_id(0)] = 1;
  x[get_local_id(0)] = unset[get_local_id(0)];
}
)";

TEST_F(OpenclKernels, DISABLED_SeededFaults) {
  auto& queue = static_cast<opencl::queue&>(device->queue());
  const backend::buffer x(queue, 16 * sizeof(int));
  const std::vector<int> zeros(16);
  queue.upload(x, zeros.data(), 16 * sizeof(int));
  auto& program = queue.program(faulty_source, "");
  for (const char* name : {"tw_out_of_bounds", "tw_global_race", "tw_local_race", "tw_uninitialised"})
    queue.launch_tiles(program.kernel(name), 1, 4, backend::memory(x), std::uint64_t{64});
  queue.finish();
}

}  // namespace
}  // namespace tilewise::tests
