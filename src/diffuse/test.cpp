// SPDX-License-Identifier: Apache-2.0
// What only diffuse must satisfy; the bits of every variant at the edge shapes are checked from the catalog.
#include "call/execute.hpp"
#include "diffuse/problem.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::code_of;
using tests::devices_with;
using tests::message_of;
using tests::wide_floats;

/// FNV-1a over the bytes of the field.
std::uint64_t hash_of(const std::vector<double>& field) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const double value : field)
    for (unsigned byte = 0; byte < 8; ++byte)
      hash = (hash ^ (std::bit_cast<std::uint64_t>(value) >> (8 * byte) & 0xff)) * 0x100000001b3u;
  return hash;
}

/// The original's field after this many steps from its start, whose strips the first step sets; its sizes have ghosts.
std::vector<double> original(std::uint64_t points, unsigned mask, std::uint64_t steps,
                             const diffuse_options& options = {}) {
  const std::uint64_t n = points - (mask == 95 ? 4 : 2);
  const std::vector<double> start(n * n);
  std::vector<double> end(n * n);
  diffuse(start, end, {.rows = n, .columns = n, .steps = steps, .mask = mask}, options);
  return end;
}

/// Hashes of the fields that the original program computes when built for x86-64 without fused multiply-adds; derived
/// from the published ones as described in src/tool/diffuse/README.md.
struct reference {
  std::uint64_t points;
  unsigned mask;
  std::uint64_t steps, hash;
};
constexpr std::array<reference, 3> small_references{
    {{64, 53, 1000, 0x08cb9952874d1399}, {64, 93, 1000, 0x4989949ba6bea438}, {64, 95, 1000, 0x20f43d2081762788}}};
constexpr std::array<reference, 3> large_references{
    {{512, 53, 1000, 0x9d18d00e99191154}, {512, 93, 1000, 0x36e5651652c668f6}, {512, 53, 10000, 0xcd54c0a3e36a00b0}}};

TEST(Diffuse, EveryVariantOnEveryDeviceHasTheOriginalsBits) {
  for (const device& on : devices_with("diffuse"))
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("diffuse"))) {
      if (v->peer || v->device_backend() != on.info().backend || !on.info().fp64) continue;
      const std::string id = v->id();
      if (v->name == "registers") continue;  // these fields are smaller than its tiles
      for (const reference& r : small_references)
        EXPECT_EQ(hash_of(original(r.points, r.mask, r.steps, {.device = on, .variant = id})), r.hash)
            << id << " on " << on.name() << ", mask " << r.mask;
    }
}

TEST(Diffuse, LargeFieldsHaveTheOriginalsBits) {
  for (const reference& r : large_references) {
    EXPECT_EQ(hash_of(original(r.points, r.mask, r.steps)), r.hash) << "mask " << r.mask << ", step " << r.steps;
    if (tests::test_cover() == tests::cover::few) break;
  }
}

TEST(Diffuse, MayStopAndGoOnAnywhere) {
  const std::vector<double> whole = original(40, 95, 50);
  for (const std::uint64_t stop : {0u, 1u, 7u, 16u, 49u, 50u}) {
    const std::vector<double> half = original(40, 95, stop);
    std::vector<double> end(half.size());
    diffuse(half, end, {.rows = 36, .columns = 36, .steps = 50 - stop, .mask = 95});
    EXPECT_EQ(hash_of(end), hash_of(whole)) << stop;
  }
}

TEST(Diffuse, RowsOfABandAreThoseOfTheFieldExceptInItsHalo) {
  constexpr std::uint64_t rows = 97, columns = 41;
  const device on = open("cpu");
  const registry::algorithm& what = registry::find_algorithm("diffuse");
  const std::vector<float> field = wide_floats(rows * columns);
  for (std::uint8_t mask = 0; mask < 3; ++mask)
    for (const auto& [first, count, steps] : {std::array<std::uint64_t, 3>{0, 97, 5},
                                              {0, 40, 9},    // above the middle
                                              {60, 37, 11},  // below it
                                              {31, 33, 4},
                                              {48, 23, 3}}) {
      registry::problem p{.what = &what, .type = dtype::f32, .shape = {rows, columns, steps}};
      p.setting[0] = mask;
      what.fit_numbers(p);
      registry::problem band = p;
      band.shape = {count, columns, steps, first, rows};
      std::vector<float> whole(field.size()), part(count * columns);
      const auto run = [&](const registry::problem& of, const float* from, std::vector<float>& to) {
        const void* const in = from;
        void* const out = to.data();
        call::run_on_host(of, registry::choose(of, on.implementation()), on.implementation().queue(), {&in, 1},
                          {&out, 1});
      };
      run(p, field.data(), whole);
      run(band, field.data() + first * columns, part);
      const std::uint64_t halo = steps * (mask == 2 ? 2 : 1);
      const std::uint64_t begin = first == 0 ? 0 : first + halo,
                          end = first + count == rows ? rows : first + count - halo;
      ASSERT_LT(begin, end);
      EXPECT_EQ(std::memcmp(&whole[begin * columns], &part[(begin - first) * columns], (end - begin) * columns * 4), 0)
          << "mask " << int{mask} << ", rows from " << first;
    }
}

TEST(Diffuse, ABandLiesWithinItsField) {
  const registry::algorithm& what = registry::find_algorithm("diffuse");
  registry::problem p{.what = &what, .type = dtype::f32, .shape = {5, 7, 1, 6, 11}};
  what.fit_numbers(p);
  EXPECT_EQ(what.invalid(p), "");
  p.shape.size[3] = 7;
  EXPECT_EQ(what.invalid(p), "a band of 5 rows from row 7 on is not within 11 rows");
  p.shape.size[3] = ~std::uint64_t{0};
  EXPECT_NE(what.invalid(p), "");
}

TEST(Diffuse, DistancesAreOfTheirDirections) {
  const std::vector<double> point{0, 0, 0, 0, 1, 0, 0, 0, 0};  // in the middle of 3x3
  std::vector<double> end(9);
  diffuse(point, end, {.rows = 3, .columns = 3, .dx = 1, .dy = 2, .rate = 0.25});
  // Side weights 1 and 1/4, centre -2.5; the left strip ends above the second row, where the right one begins.
  EXPECT_EQ(end[1], 0.25 * (1.0 + 0.25));
  EXPECT_EQ(end[4], 1 + 0.25 * (-2.5 + 1.0));
  EXPECT_EQ(end[7], 0.25 * (0.25 + 1.0));
}

TEST(Diffuse, ANaNSpreadsByItsNeighboursAndIsCanonical) {
  std::vector<float> field(7 * 7, 0.5f);
  field[3 * 7 + 3] = std::nanf("7");
  std::vector<float> end(field.size());
  diffuse(field, end, {.rows = 7, .columns = 7, .steps = 2});
  for (int j = 0; j < 7; ++j)
    for (int i = 0; i < 7; ++i) {
      const float value = end[static_cast<std::size_t>(7 * j + i)];
      EXPECT_EQ(std::isnan(value), std::abs(i - 3) + std::abs(j - 3) <= 2) << j << " " << i;
      if (std::isnan(value)) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(value), 0x7fc00000u);
      }
    }
}

/// Bits of every variant on every device, against the definition's.
template <class T>
void expect_equal_bits(const std::vector<T>& field, const diffusion& d) {
  std::vector<T> expected(field.size());
  diffuse(field, expected, d, {.device = open("cpu:serial"), .variant = "diffuse/serial"});
  for (const device& on : devices_with("diffuse"))
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("diffuse"))) {
      if (v->peer || v->device_backend() != on.info().backend || (sizeof(T) == 8 && !on.info().fp64)) continue;
      std::vector<T> end(field.size());
      diffuse(field, end, d, {.device = on, .variant = v->id()});
      EXPECT_EQ(std::memcmp(end.data(), expected.data(), end.size() * sizeof(T)), 0) << v->id() << " on " << on.name();
    }
}

/// Where the weights of sides are powers of two, variants compute without their products, but not where those overflow.
template <class T>
void overflow_as_defined() {
  const std::vector<float> wide = wide_floats(300 * 260);
  std::vector<T> field(wide.begin(), wide.end());
  const T largest = std::numeric_limits<T>::max();
  for (const std::size_t index : {40 * 260 + 259, 150 * 260 + 130, 150 * 260 + 131, 299 * 260 + 7})
    field[index] = largest;
  field[200 * 260 + 40] = largest / 8;  // overflows with the second step's sum
  field[200 * 260 + 42] = largest / 8;
  expect_equal_bits<T>(field, {.rows = 300, .columns = 260, .steps = 21});
  expect_equal_bits<T>(field, {.rows = 300, .columns = 260, .steps = 3, .dx = 1, .dy = 1, .rate = 0.25});
}

TEST(Diffuse, OverflowsWhereTheDefinitionDoes) {
  overflow_as_defined<double>();
  overflow_as_defined<float>();
}

TEST(Diffuse, EveryDistanceHasTheDefinitionsBits) {
  const std::vector<float> wide = wide_floats(130 * 150);
  const std::vector<double> field(wide.begin(), wide.end());
  for (const double distance : {1.0 / 3, 0.25, 1.0, 2.0, 0x1p-10})
    expect_equal_bits<double>(
        field,
        {.rows = 130, .columns = 150, .steps = 19, .dx = distance, .dy = distance, .rate = 0.1 * distance * distance});
  expect_equal_bits<double>(field, {.rows = 130, .columns = 150, .steps = 19, .dx = 1, .dy = 0.5, .rate = 0.01});
}

/// Of a GPU's tiles in registers each size, in fields of one tile, of little more, and of some tiles in both
/// directions; their rows begin on units of 16 bytes or not. Some tiles of doubles have no room on some devices.
template <class T>
void expect_equal_bits_of_tiles(const device& on, const registry::variant& v, const diffusion& d) {
  const std::vector<float> wide = wide_floats(d.rows * d.columns);
  const std::vector<T> field(wide.begin(), wide.end());
  std::vector<T> expected(field.size()), end(field.size());
  diffuse(field, expected, d, {.device = open("cpu:serial"), .variant = "diffuse/serial"});
  for (const std::string_view tile : v.tuning[0].words)
    for (const std::string_view steps : {"4", "8"}) {
      const std::string tuning = "tile=" + std::string(tile) + " steps=" + std::string(steps);
      const registry::problem p = impl::diffuse::problem_of(d, dtype_of<T>);
      if (const auto t = registry::parse_tuning(tuning, v.tuning);
          dtype_of<T> == dtype::f64 && !v.unsupported(p, on.implementation(), t).empty())
        continue;
      diffuse(field, end, d, {.device = on, .variant = v.id(), .tuning = tuning});
      EXPECT_EQ(std::memcmp(end.data(), expected.data(), end.size() * sizeof(T)), 0)
          << v.id() << " on " << on.name() << ", " << tuning << ", " << d.rows << "x" << d.columns << ", mask "
          << d.mask;
    }
}

TEST(Diffuse, TilesInRegistersOfEverySizeHaveTheDefinitionsBits) {
  for (const device& on : devices_with("diffuse"))
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("diffuse"))) {
      if (v->name != "registers" || v->device_backend() != on.info().backend || on.info().is_cpu) continue;
      for (const unsigned mask : {53u, 93u, 95u})
        for (const auto& [rows, columns] :
             {std::array<std::uint64_t, 2>{128, 128}, {131, 129}, {128, 260}, {389, 500}}) {
          expect_equal_bits_of_tiles<float>(on, *v, {.rows = rows, .columns = columns, .steps = 19, .mask = mask});
          if (on.info().fp64)
            expect_equal_bits_of_tiles<double>(on, *v, {.rows = rows, .columns = columns, .steps = 19, .mask = mask});
        }
    }
}

TEST(Diffuse, NoStepsCopyEveryBit) {
  const std::vector<float> field{std::nanf("7"), -0.0f, 1, 2};
  std::vector<float> end(4);
  diffuse(field, end, {.rows = 2, .columns = 2, .steps = 0});
  EXPECT_EQ(std::memcmp(field.data(), end.data(), 16), 0);
}

TEST(Diffuse, StaysOnItsDevice) {
  for (const device& on : devices()) {
    if (!on.info().fp64) continue;
    const std::vector<double> start(62 * 62);
    const array<double> field = on.upload(start);
    array<double> half = on.allocate<double>(start.size()), end = on.allocate<double>(start.size());
    diffuse(field, half, {.rows = 62, .columns = 62, .steps = 400});
    diffuse(half, end, {.rows = 62, .columns = 62, .steps = 600});
    EXPECT_EQ(hash_of(end.download()), small_references[0].hash) << on.name();
  }
}

TEST(Diffuse, TheLargestStableRateIsWhereTheShortestWaveStaysAsItIs) {
  const auto limit = [](unsigned mask, double dx, double dy) {
    return largest_stable_rate({.rows = 1, .columns = 1, .mask = mask, .dx = dx, .dy = dy});
  };
  EXPECT_DOUBLE_EQ(limit(53, 0.5, 0.5), 0.0625);
  EXPECT_DOUBLE_EQ(limit(53, 1, 2), 0.4);
  EXPECT_DOUBLE_EQ(limit(93, 0.5, 0.5), 0.09375);
  EXPECT_DOUBLE_EQ(limit(95, 0.5, 0.5), 0.046875);
  EXPECT_DOUBLE_EQ(limit(93, 1, 4), 32.0 / 51) << "waves along x alone";
  EXPECT_DOUBLE_EQ(limit(93, 4, 1), 32.0 / 51) << "waves along y alone";
  EXPECT_EQ(largest_stable_rate({.rows = 1, .columns = 1, .rate = 1.0}), 0.0625) << "whatever the rate";
}

TEST(Diffuse, EveryRateThatIsStableIsTaken) {
  const std::vector<double> field{1, 0.25, 0.5, 0};
  for (const double rate : {0.0, largest_stable_rate({.rows = 2, .columns = 2})})
    EXPECT_EQ(diffuse(field, {.rows = 2, .columns = 2, .rate = rate}).size(), 4u);
  EXPECT_EQ(diffuse(std::vector<double>{0, 0.25, 0.5, 0}, {.rows = 2, .columns = 2, .rate = 0}),
            (std::vector<double>{1, 0.25, 0.5, 1}))
      << "only the strips are set";
}

TEST(Diffuse, RefusesWhatMakesNoSense) {
  const std::vector<double> field(12);
  std::vector<double> end(12, 7.0);
  const auto refused = [&](const diffusion& d) {
    return message_of(errc::invalid_argument, [&] { diffuse(field, end, d); });
  };
  EXPECT_NE(refused({.rows = 3, .columns = 4, .rate = 0.07}).find("0.0625"), std::string::npos);
  EXPECT_NE(refused({.rows = 3, .columns = 4, .mask = 54}).find("53"), std::string::npos);
  EXPECT_NE(refused({.rows = 3, .columns = 5}).find("15"), std::string::npos);
  for (const double bad : {0.0, -0.5, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_NE(refused({.rows = 3, .columns = 4, .dx = bad}).find("all of them finite"), std::string::npos) << bad;
    EXPECT_NE(refused({.rows = 3, .columns = 4, .dy = bad}).find("all of them finite"), std::string::npos) << bad;
  }
  EXPECT_NE(refused({.rows = 3, .columns = 4, .rate = -1e-9}).find("the rate -1e-09"), std::string::npos);
  EXPECT_NE(refused({.rows = 3, .columns = 4, .dx = 1e-200}).find("dx = 1e-200"), std::string::npos);
  refused({.rows = 3, .columns = 4, .dx = 1e200});
  const double infinite = std::numeric_limits<double>::infinity();
  message_of(errc::invalid_argument,
             [&] { diffuse(field, end, {.rows = 3, .columns = 4, .rate = infinite}, {.allow_unstable = true}); });
  EXPECT_EQ(code_of([&] { diffuse(end, end, {.rows = 3, .columns = 4}); }), errc::invalid_argument);
  EXPECT_EQ(end, std::vector<double>(12, 7.0));
}

TEST(Diffuse, AnUnstableRateMayBeAllowed) {
  const std::vector<double> field(12);
  std::vector<double> end(12);
  diffuse(field, end, {.rows = 3, .columns = 4, .steps = 100, .rate = 0.2}, {.allow_unstable = true});
  EXPECT_GT(std::abs(end[5]), 10);
}

}  // namespace
}  // namespace tilewise
