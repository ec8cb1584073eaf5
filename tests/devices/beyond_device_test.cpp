// SPDX-License-Identifier: Apache-2.0
// Problems in which single operands are larger than the device's memory (TILEWISE_DEVICE_MEMORY, which CMakeLists.txt
// sets to 1M for this file's tests), or than its largest allocation, which for OpenCL is a quarter of that. The bits
// must be those of the CPU.
#include "call/call.hpp"
#include "diffuse/problem.hpp"
#include "divide/pieces.hpp"
#include "registry/choose.hpp"
#include "small_device.hpp"

#include <numeric>

namespace tilewise::tests {

namespace {

struct product {
  std::size_t m, n, k;
};

/// Under the sanitizers the definition of a large product takes seconds.
bool is_too_slow(const product& s) { return test_cover() == cover::few && std::uint64_t{s.m} * s.n * s.k > 20'000'000; }

template <class T>
void expect_product(const product& s, std::size_t gap = 0) {
  if (is_too_slow(s)) return;
  const matrix_layout of_a{s.m, s.k, s.k + gap}, of_b{s.k, s.n, s.n + gap}, of_c{s.m, s.n, s.n + gap};
  const auto a = values_of<T>(lab::data_class::wide, 1, s.m * of_a.stride);
  const auto b = values_of<T>(lab::data_class::cancelling, 2, s.k * of_b.stride);
  SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k));
  expect_bits_of_cpu([&](const device& on) {
    std::vector<T> c(s.m * of_c.stride, T(7));  // gaps between rows must keep this
    matmul(a, of_a, b, of_b, c, of_c, {.device = on});
    return c;
  });
}

TEST(BeyondDevice, ProductsOfAnyShape) {
  for (const product& s : {product{37, 1009, 401},  // B is larger, by one panel and more
                           product{1009, 37, 401},  // A is
                           product{701, 907, 503},  // both are, and C
                           product{1, 2003, 307},   // a single row
                           product{2003, 1, 307},   // a single column
                           product{1201, 1301, 1},  // C alone, of chains of one step
                           product{1201, 1301, 0},  // and of none
                           product{2, 3, 50021}})   // lines of a fifth of the memory
    expect_product<float>(s);
  expect_product<double>({211, 503, 307});
  expect_product<std::int32_t>({211, 907, 307});
  expect_product<float>({503, 607, 211}, 5);
  expect_product<double>({0, 607, 503});
  expect_product<double>({607, 0, 503});
}

TEST(BeyondDevice, LinesThatDoNotFitAreRefused) {
  const std::vector<float> a(200003), b(200003);
  for (const device& on : devices()) {
    if (on.info().backend != "opencl" && on.info().backend != "cuda") continue;
    EXPECT_EQ(code_of([&] {
                (void)matmul(a, {1, a.size()}, b, {b.size(), 1}, {.device = on});
              }),
              errc::out_of_memory)
        << on.name();
  }
}

TEST(BeyondDevice, AGroupMultipliesInPanelsOfItsSmallestMember) {
  const std::size_t m = 37, n = 509, k = 401;  // B is six times as large as a panel may be
  const auto a = values_of<float>(lab::data_class::wide, 1, m * k);
  const auto b = values_of<float>(lab::data_class::cancelling, 2, k * n);
  expect_bits_of_cpu([&](const device& on) {
    const bool alone = on.info().backend == "cpu";
    return matmul(a, {m, k}, b, {k, n}, {.device = alone ? on : open(std::string(on.name()) + "+cpu:serial")});
  });
}

/// Keys alone, with values of both sizes, and with indices.
template <class T>
void expect_sorts(const std::vector<T>& keys, sort_order order) {
  SCOPED_TRACE(std::string(name_of(dtype_of<T>)) + " " + std::to_string(keys.size()));
  std::vector<std::uint32_t> values(keys.size());
  std::iota(values.begin(), values.end(), 5u);
  const std::vector<double> wide(values.begin(), values.end());
  const auto with = [&](const device& on) { return sort_options{.order = order, .device = on}; };
  expect_bits_of_cpu([&](const device& on) { return sorted(keys, with(on)); });
  expect_bits_of_cpu([&](const device& on) { return argsort(keys, with(on)); });
  expect_bits_of_cpu([&](const device& on) {
    std::vector<T> in_place = keys;
    tilewise::sort(in_place, in_place, with(on));
    return in_place;
  });
  expect_bits_of_cpu([&](const device& on) {
    std::vector<T> keys_out = keys;
    std::vector<std::uint32_t> moved = values;
    sort_by_key(keys_out, moved, keys_out, moved, with(on));
    return moved;
  });
  expect_bits_of_cpu([&](const device& on) {
    std::vector<T> keys_out(keys.size());
    std::vector<double> moved(keys.size());
    sort_by_key(keys, wide, keys_out, moved, with(on));
    return moved;
  });
}

TEST(BeyondDevice, SortsInRuns) {
  // Runs have 32768 keys of 4 bytes: tests an even and an odd number of rounds, and a last run of one element.
  expect_sorts(values_of<float>(lab::data_class::nan, 1, 98304), sort_order::ascending);
  expect_sorts(values_of<float>(lab::data_class::zeros, 2, 131073), sort_order::descending);
  expect_sorts(values_of<std::int64_t>(lab::data_class::uniform, 3, 70001), sort_order::descending);
  expect_sorts(values_of<std::uint32_t>(lab::data_class::uniform, 4, 100003), sort_order::ascending);
  std::vector<std::int32_t> few_kinds = values_of<std::int32_t>(lab::data_class::uniform, 5, 100003);
  for (std::int32_t& key : few_kinds) key %= 3;  // equal keys in every run; they must keep their order
  expect_sorts(few_kinds, sort_order::ascending);
  expect_sorts(values_of<std::uint32_t>(lab::data_class::uniform, 6, 60001), sort_order::ascending);  // each part fits
  expect_sorts(values_of<double>(lab::data_class::wide, 7, 33001), sort_order::ascending);  // all fit, but not at once
}

template <class T>
void expect_diffusion(const diffusion& d, lab::data_class data) {
  SCOPED_TRACE(std::to_string(d.rows) + "x" + std::to_string(d.columns) + ", " + std::to_string(d.steps) +
               " steps, mask " + std::to_string(d.mask));
  const auto field = values_of<T>(data, d.rows, d.rows * d.columns);
  expect_bits_of_cpu([&](const device& on) { return diffuse(field, d, {.device = on}); });
}

TEST(BeyondDevice, FieldsPassThroughInBands) {
  // A field of 280 KB, its result and a workspace do not fit together. First: several passes, and a remainder.
  for (const unsigned mask : {53u, 95u})
    expect_diffusion<float>({.rows = 301, .columns = 253, .steps = 17, .mask = mask}, lab::data_class::uniform);
  expect_diffusion<float>({.rows = 301, .columns = 253, .steps = 2, .mask = 93}, lab::data_class::nan);
  expect_diffusion<double>({.rows = 5003, .columns = 7, .steps = 29}, lab::data_class::uniform);  // one pass
  expect_diffusion<float>({.rows = 7, .columns = 20011, .steps = 2}, lab::data_class::uniform);   // a row at a time
  expect_diffusion<float>({.rows = 301, .columns = 253, .steps = 0}, lab::data_class::uniform);
  expect_diffusion<float>({.rows = 401, .columns = 101, .steps = 5}, lab::data_class::uniform);  // it fits
  expect_diffusion<float>({.rows = 269, .columns = 257, .steps = 5}, lab::data_class::uniform);  // but for its size
}

/// With this many rows, bands of equal height would leave a last band of a single row and its halo, which is too low
/// for kernels with tall tiles.
TEST(BeyondDevice, EveryKernelGetsBandsThatItTakes) {
  const diffusion d{.rows = 381, .columns = 256, .steps = 17};
  const auto field = values_of<float>(lab::data_class::uniform, 3, d.rows * d.columns);
  const registry::problem p = impl::diffuse::problem_of(d, dtype::f32);
  for (const registry::variant* v : registry::variants_of(*p.what)) {
    if (v->peer || v->order != registry::claim::tilewise) continue;
    SCOPED_TRACE(v->id());
    const auto expected = diffuse(field, d, {.device = open("cpu")});
    for (const device& on : devices()) {
      if (on.info().backend != v->backend || (v->backend != "opencl" && v->backend != "cuda")) continue;
      if (!registry::unsupported_reason(*v, p, on.implementation(), {}).empty()) continue;  // kept on the chip
      EXPECT_TRUE(same_bytes(diffuse(field, d, {.device = on, .variant = v->name}), expected)) << on.name();
    }
  }
}

TEST(BeyondDevice, APartThatAVariantDoesNotTakeIsRefused) {
  registry::problem p = impl::diffuse::problem_of({.rows = 381, .columns = 256, .steps = 1}, dtype::f32);
  for (const device& on : devices()) {
    if (on.info().backend != "opencl") continue;
    backend::queue& queue = on.implementation().queue();
    const registry::choice how = registry::choose(p, on.implementation(), {.variant = "registers"});
    registry::problem part = p;
    part.shape.size[0] = 3;
    EXPECT_EQ(code_of([&] { divide::run_part(how, part, {}, queue); }), errc::unsupported) << on.name();
  }
}

/// The strips of a band are those of its field, wherever the band begins.
TEST(BeyondDevice, BandsOfAHigherFieldPassThroughInBandsOfTheirOwn) {
  const diffusion d{.rows = 301, .columns = 253, .steps = 17};
  const auto field = values_of<float>(lab::data_class::uniform, 1, d.rows * d.columns);
  registry::problem p = impl::diffuse::problem_of(d, dtype::f32);
  for (const std::uint64_t first : {0, 100, 400}) {
    SCOPED_TRACE(first);
    p.shape = {d.rows, d.columns, d.steps, first, 701};
    expect_bits_of_cpu([&](const device& on) {
      std::vector<float> result(field.size());
      const auto in = detail::argument_for("the field", field), out = detail::argument_for("the result", result);
      call::run_call(p, &on, {}, {&in, 1}, {&out, 1});
      return result;
    });
  }
}

}  // namespace

}  // namespace tilewise::tests
