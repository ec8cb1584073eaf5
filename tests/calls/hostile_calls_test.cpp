// SPDX-License-Identifier: Apache-2.0
// Invalid calls through the public interface: operands that overlap, sizes beyond any memory, null pointers, and
// objects that were moved from. Each is refused with a message, and no memory is touched.
#include <tilewise/interop.hpp>
#include <tilewise/tilewise.hpp>

#include <algorithm>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

/// The message. Fails if there is no error, or one with another code.
template <class Call>
std::string refused(const Call& call, errc expected = errc::invalid_argument) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), expected) << e.what();
    EXPECT_GT(std::strlen(e.what()), 20u) << e.what();
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return "";
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

/// Every algorithm with an output, on square operands of `side` rows: two inputs and an output of equal size.
template <class In, class Out>
std::vector<std::function<void(const In&, const In&, Out&)>> calls_of_three(std::uint64_t side) {
  const matrix_layout square(side, side);
  const image_size image{side, side};
  return {
      [=](const In& a, const In& b, Out& c) { tw::matmul(a, square, b, square, c, square); },
      [=](const In& a, const In& b, Out& c) {
        tw::convolve(a, image, b, {1, 1}, c);
      },
  };
}

template <class In, class Out>
std::vector<std::function<void(const In&, Out&)>> calls_of_two(std::uint64_t side) {
  return {
      [](const In& in, Out& out) { tw::inclusive_scan(in, out); },
      [](const In& in, Out& out) { tw::exclusive_scan(in, out, {.init = 2.0f}); },
      [](const In& in, Out& out) {
        tw::partial<float> carry;
        carry.push(1.0f);
        tw::inclusive_scan(in, out, {.carry = &carry});
      },
      [](const In& in, Out& out) { tw::sort(in, out); },
      [=](const In& in, Out& out) { tw::diffuse(in, out, {.rows = side, .columns = side}); },
  };
}

TEST(HostileCalls, HostMemoryThatOverlapsInPartIsRefused) {
  for (const std::uint64_t side : {2, 40}) {  // computed at once; and on a device
    const std::uint64_t n = side * side;
    std::vector<float> memory(4 * n, 1.0f);
    const std::span<const float> in = std::span(memory).subspan(n, n);
    for (const std::uint64_t at : {std::uint64_t{1}, n - 1, n + 1, 2 * n - 1}) {
      std::span<float> out = std::span(memory).subspan(at, n);
      for (const auto& call : calls_of_two<std::span<const float>, std::span<float>>(side))
        refused([&] { call(in, out); });
    }
  }
  const std::uint64_t n = 1600;
  std::vector<float> memory(4 * n, 1.0f);
  const std::span<const float> a = std::span(memory).first(n), b = std::span(memory).subspan(n, n);
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1}, n - 1, n, 2 * n - 1}) {
    std::span<float> c = std::span(memory).subspan(at, n);
    for (const auto& call : calls_of_three<std::span<const float>, std::span<float>>(40))
      refused([&] { call(a, b, c); });
    if (at == 2 * n - 1) continue;  // beyond the shorter operands
    refused([&] { tw::matvec(a, {40, 40}, b.first(40), c.first(40)); });
    refused([&] { tw::polymul(a.first(n / 2), b.first(n / 2), std::span(memory).subspan(at, n - 1)); });
  }
  const std::span<float> all(memory);
  refused([&] { tw::sort_by_key(a, b, all.subspan(1, n), all.subspan(2 * n, n)); });
  refused([&] { tw::sort_by_key(a, b, all.subspan(2 * n, n), all.subspan(2 * n + 1, n)); });
  refused([&] { tw::sort_by_key(a, b, all.subspan(n, n), all.first(n)); });
  EXPECT_EQ(memory, std::vector<float>(4 * n, 1.0f));
}

TEST(HostileCalls, ViewsThatOverlapInPartAreRefused) {
  const device on = open("cpu");
  for (const std::uint64_t side : {2, 40}) {
    const std::uint64_t n = side * side;
    std::vector<float> memory(4 * n, 1.0f);
    const auto part = [&](std::uint64_t at) { return view<float>(on, memory.data() + at, n); };
    const array<float> in = part(n), other = part(2 * n);
    for (const std::uint64_t at : {std::uint64_t{1}, n - 1, n + 1, 2 * n - 1}) {
      array<float> out = part(at);
      for (const auto& call : calls_of_two<array<float>, array<float>>(side)) refused([&] { call(in, out); });
      for (const auto& call : calls_of_three<array<float>, array<float>>(side)) refused([&] { call(in, other, out); });
    }
    array<float> keys_out = part(0), values_out = part(n - 1);
    refused([&] { tw::sort_by_key(other, other, keys_out, values_out); });
    array<float> keys = part(0), values = part(n);  // each may be the output of its own sort only
    refused([&] { tw::sort_by_key(keys, values, values, keys); });
    array<std::uint32_t> indices = view<std::uint32_t>(on, reinterpret_cast<std::uint32_t*>(memory.data()), n);
    refused([&] { tw::argsort(keys, indices); });
    EXPECT_EQ(memory, std::vector<float>(4 * n, 1.0f));
  }
}

/// Every algorithm that accepts one memory as input and output, on matrices with gaps between their rows.
template <class Operand>
std::vector<std::function<void(Operand&, matrix_layout, Operand&, matrix_layout)>> strided_calls() {
  std::vector<std::function<void(Operand&, matrix_layout, Operand&, matrix_layout)>> calls;
  for (const axis which : {axis::rows, axis::columns}) {
    const auto add = [&](const auto& call) {
      calls.push_back([=](Operand& in, matrix_layout of_in, Operand& out, matrix_layout of_out) {
        call(along(in, of_in, which), along(out, of_out, which));
      });
    };
    add([](const auto& in, const auto& out) { tw::inclusive_scan(in, out); });
    add([](const auto& in, const auto& out) { tw::inclusive_scan(in, out, {.init = 2.0f}); });
    add([](const auto& in, const auto& out) { tw::exclusive_scan(in, out); });
    add([](const auto& in, const auto& out) { tw::exclusive_scan(in, out, {.init = 2.0f}); });
    add([](const auto& in, const auto& out) { tw::sort(in, out); });
  }
  return calls;
}

/// Views that begin or end at the same or at different elements. `part` is a view of `memory`.
template <class Part>
void refuse_other_strides(const std::vector<float>& memory, const Part& part) {
  using operand = decltype(part(0, 0));
  const std::vector<float> before = memory;
  constexpr std::uint64_t begin = 25, lines = 4;
  operand all = part(0, memory.size()), other = part(100, 16), x = part(100, lines);
  for (const std::uint64_t from : {4, 5, 7})
    for (const std::uint64_t to : {4, 5, 7}) {
      const matrix_layout of_in(lines, 4, from), of_out(lines, 4, to), packed(lines, 4);
      const std::uint64_t in_size = 3 * from + 4, out_size = 3 * to + 4, end = begin + in_size;
      operand in = part(begin, in_size);
      for (const std::uint64_t at : {begin, end - out_size, begin + 1, begin + from, end - 1, begin + 1 - out_size}) {
        operand out = part(at, out_size), y = part(std::max(at, begin), lines);
        for (const auto& call : strided_calls<operand>())
          if (at != begin || from != to) refused([&] { call(in, of_in, out, of_out); });
        refused([&] { tw::matmul(in, of_in, other, packed, out, of_out); });
        refused([&] { tw::matmul(other, packed, in, of_in, out, of_out); });
        refused([&] { tw::matvec(in, of_in, x, y); });
        for (const axis which : {axis::rows, axis::columns}) refused([&] { tw::reduce(along(in, of_in, which), y); });
      }
      for (const auto& call : strided_calls<operand>())
        if (from != to) refused([&] { call(all, of_in, all, of_out); });
    }
  EXPECT_EQ(memory, before);
}

TEST(HostileCalls, StridedViewsThatOverlapInPartAreRefused) {
  std::vector<float> memory(128, 1.0f);
  refuse_other_strides(memory, [&](std::uint64_t at, std::uint64_t n) { return std::span(memory).subspan(at, n); });
  const device cpu = open("cpu");
  refuse_other_strides(memory,
                       [&](std::uint64_t at, std::uint64_t n) { return view<float>(cpu, memory.data() + at, n); });
  std::vector<device> all = devices();
  all.push_back(open("2*cpu:serial"));
  for (const device& on : all) {
    SCOPED_TRACE(on.name());
    array<float> x = on.upload(memory);
    for (const auto& call : strided_calls<array<float>>()) {
      refused([&] { call(x, {4, 4, 5}, x, {4, 4, 7}); });
      refused([&] { call(x, {4, 4, 7}, x, {4, 4, 5}); });
    }
    EXPECT_EQ(x.download(), memory);
  }
}

TEST(HostileCalls, ArraysOfTwoDevicesAreRefused) {
  const device here = open("cpu:serial"), there = open("cpu:threads");
  const std::vector<float> values(4, 1.0f);
  const array<float> a = here.upload(values), b = there.upload(values);
  array<float> out = here.upload(values);
  for (const auto& call : calls_of_two<array<float>, array<float>>(2)) refused([&] { call(b, out); });
  for (const auto& call : calls_of_three<array<float>, array<float>>(2)) {
    refused([&] { call(a, b, out); });
    refused([&] { call(b, a, out); });
  }
  array<float> beside = here.upload(values), beyond = there.upload(values);
  refused([&] { tw::sort_by_key(a, a, out, beyond); });
  refused([&] { tw::sort_by_key(a, a, beyond, out); });
  refused([&] { tw::sort_by_key(a, b, out, beside); });
  const array<float> of_same_name = open("cpu:serial", {.threads = 1}).upload(values);
  refused([&] { tw::sort(of_same_name, out); });
  const array<float> nothing = there.upload(std::vector<float>());
  array<float> of_nothing = here.upload(std::vector<float>());
  for (const auto& call : calls_of_two<array<float>, array<float>>(0)) refused([&] { call(nothing, of_nothing); });
  refused([&] { tw::matmul(nothing, {2, 0}, of_nothing, {0, 2}, out, {2, 2}); });
  refused([&] { tw::matmul(of_nothing, {2, 0}, nothing, {0, 2}, out, {2, 2}); });
  EXPECT_EQ(out.download(), values);
  EXPECT_EQ(beyond.download(), values);
}

/// Arrays are computed on their own device, so options that name another one cannot be followed.
TEST(HostileCalls, ArraysOfAnotherDeviceThanTheOptionsNameAreRefused) {
  const std::vector<float> values(4, 1.0f);
  const matrix_layout square(2, 2);
  for (const char* name : {"cpu:serial", "2*cpu:serial"}) {
    const device here = open(name);
    const array<float> in = here.upload(values);
    array<float> out = here.upload(values), other = here.upload(values);
    array<std::uint32_t> indices = here.allocate<std::uint32_t>(4);
    for (const device& there : {open("cpu:threads"), open("cpu:serial", {.threads = 1})}) {
      tw::partial<float> part;
      const auto sentence = refused([&] { tw::sort(in, out, {.device = there}); });
      EXPECT_NE(sentence.find("name the device " + there.name()), std::string::npos) << sentence;
      refused([&] { tw::reduce(in, {.device = there}); });
      refused([&] { part.push(in, {.device = there}); });
      refused([&] { tw::inclusive_scan(in, out, {.device = there}); });
      refused([&] { tw::inclusive_scan(in, out, {.carry = &part, .device = there}); });
      refused([&] { tw::argsort(in, indices, {.device = there}); });
      refused([&] { tw::sort_by_key(in, in, out, other, {.device = there}); });
      refused([&] { tw::matmul(in, square, in, square, out, square, {.device = there}); });
      refused([&] { tw::dot(in, in, {.device = there}); });
      refused([&] { tw::convolve(in, {2, 2}, in, {1, 4}, out, {.device = there}); });
      refused([&] { tw::diffuse(in, out, {.rows = 2, .columns = 2}, {.device = there}); });
      EXPECT_EQ(part.end(), 0u);
    }
    EXPECT_EQ(out.download(), values);
    tw::sort(in, out, {.device = here});
  }
}

/// Inputs without elements may have any address, even the output's. The output is larger than any spare memory.
TEST(HostileCalls, EmptyInputsAtTheOutputsAddress) {
  for (const device& on : devices()) {
    std::vector<float> c(300 * 400, 7.0f), y(100'000, 7.0f);
    const std::span<const float> nothing(c.data(), 0), nothing_of_y(y.data(), 0);
    try {
      tw::matmul(nothing, {300, 0}, nothing, {0, 400}, std::span(c), {300, 400}, {.device = on});
      tw::matvec(nothing_of_y, {y.size(), 0}, nothing_of_y, std::span(y), {.device = on});
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::unsupported) << on.name() << ": " << e.what();  // not every backend has all
      continue;
    }
    EXPECT_EQ(c, std::vector<float>(c.size())) << on.name();
    EXPECT_EQ(y, std::vector<float>(y.size())) << on.name();
  }
}

TEST(HostileCalls, ViewsOfMoreThanMemoryHasAddressesAreRefused) {
  const device on = open("cpu");
  std::vector<double> memory(8);
  for (const std::uint64_t count : {std::uint64_t{1} << 61, (std::uint64_t{1} << 61) + 1, (std::uint64_t{1} << 61) - 1,
                                    ~std::uint64_t{0}, std::uint64_t{1} << 62})
    refused([&] { view<double>(on, memory.data(), count); });
  refused([&] { view<std::int32_t>(on, memory.data(), std::uint64_t{1} << 62); });
  refused([&] { view<float>(on, nullptr, 1); });
  EXPECT_EQ(view<float>(on, nullptr, 0).download(), std::vector<float>());
  refused([&] { view<double>(on, memory.data(), std::uint64_t{1} << 60).download(); }, errc::out_of_memory);
}

/// Matrices whose last row begins 2^64 elements after the first, or a little more, which is a small number after it
/// wraps. `part` is shorter even than that.
template <class Part>
void refuse_matrices_that_wrap(const Part& part) {
  using operand = decltype(part(0, 0));
  operand in = part(0, 3), out = part(3, 3), x = part(6, 4);
  const auto refused_for_addresses = [](const auto& call) {
    const std::string why = refused(call);
    EXPECT_NE(why.find("more bytes than a 64-bit address reaches"), std::string::npos) << why;
  };
  constexpr std::uint64_t one = 1;
  refused_for_addresses([&] { tw::matvec(in, {3, 4, one << 63}, x, out); });
  for (const matrix_layout huge : {matrix_layout((one << 62) + 1, 4), matrix_layout((one << 62) + 2, 4),
                                   matrix_layout((one << 33) + 1, 4, one << 31), matrix_layout(3, 4, one << 63)}) {
    SCOPED_TRACE(std::to_string(huge.rows) + " rows");
    const matrix_layout small(huge.rows, 4);
    for (const auto& call : strided_calls<operand>()) {
      refused_for_addresses([&] { call(in, huge, out, huge); });
      refused_for_addresses([&] { call(in, huge, out, small); });
      refused_for_addresses([&] { call(in, small, out, huge); });
    }
    for (const axis which : {axis::rows, axis::columns}) {
      refused_for_addresses([&] { tw::reduce(along(in, huge, which), out); });
      refused_for_addresses([&] { tw::reduce(along(in, huge, which), out, {.init = 2.0f}); });
    }
    refused_for_addresses([&] { tw::matmul(in, huge, in, {4, 1}, out, {huge.rows, 1}); });
    refused_for_addresses([&] { tw::matmul(in, {1, huge.rows}, in, huge, out, {1, 4}); });
    refused_for_addresses([&] { tw::matmul(in, {huge.rows, 1}, in, {1, 4}, out, huge); });
    if (huge.stride > huge.columns) continue;  // images have no gaps
    refused_for_addresses([&] { tw::convolve(in, {huge.rows, 4}, in, {1, 1}, out); });
    refused_for_addresses([&] { tw::diffuse(in, out, {.rows = huge.rows, .columns = 4}); });
  }
}

TEST(HostileCalls, MatricesOfMoreThanMemoryHasAddressesAreRefused) {
  std::vector<float> memory(10, 1.0f);
  refuse_matrices_that_wrap([&](std::uint64_t at, std::uint64_t n) { return std::span(memory).subspan(at, n); });
  const device cpu = open("cpu");
  refuse_matrices_that_wrap([&](std::uint64_t at, std::uint64_t n) { return view<float>(cpu, memory.data() + at, n); });
  EXPECT_EQ(memory, std::vector<float>(10, 1.0f));
}

/// A call, and the number of elements of each of its operands.
struct call_of_spans {
  std::vector<std::uint64_t> sizes;
  std::function<void(const std::vector<std::span<float>>&)> call;
};

/// Every algorithm, on square operands of `side` rows.
std::vector<call_of_spans> calls_of_spans(std::uint64_t side) {
  using spans = std::vector<std::span<float>>;
  const std::uint64_t n = side * side;
  const matrix_layout square(side, side);
  const image_size image{side, side}, mask{1, 1};
  std::vector<call_of_spans> all{
      {{n}, [](const spans& s) { tw::reduce(s[0]); }},
      {{n}, [](const spans& s) { tw::partial<float>().push(s[0]); }},
      {{n}, [](const spans& s) { tw::argsort(s[0]); }},
      {{n, n}, [](const spans& s) { tw::dot(s[0], s[1]); }},
      {{n, n, n, n}, [](const spans& s) { tw::sort_by_key(s[0], s[1], s[2], s[3]); }},
      {{n, side, side}, [=](const spans& s) { tw::matvec(s[0], square, s[1], s[2]); }},
      {{n, n, n}, [=](const spans& s) { tw::matmul(s[0], square, s[1], square, s[2], square); }},
      {{n, n, 2 * n - 1}, [](const spans& s) { tw::polymul(s[0], s[1], s[2]); }},
      {{n, 1, n}, [=](const spans& s) { tw::convolve(s[0], image, s[1], mask, s[2]); }},
  };
  for (const auto& call : calls_of_two<std::span<float>, const std::span<float>>(side))
    all.push_back({{n, n}, [call](const spans& s) { call(s[0], s[1]); }});
  for (const auto& call : strided_calls<const std::span<float>>())
    all.push_back({{n, n}, [=](const spans& s) { call(s[0], square, s[1], square); }});
  for (const axis which : {axis::rows, axis::columns})
    all.push_back({{n, side}, [=](const spans& s) { tw::reduce(along(s[0], square, which), s[1]); }});
  return all;
}

/// Tests each operand of each call in turn, also for few elements, which are computed at once.
TEST(HostileCalls, NullPointersWithASizeAreRefused) {
  for (const std::uint64_t side : {2, 10, 300}) {
    std::vector<float> memory(8 * side * side, 1.0f);
    const std::vector<float> before = memory;
    const auto calls = calls_of_spans(side);
    for (std::size_t c = 0; c < calls.size(); ++c)
      for (std::size_t null = 0; null < calls[c].sizes.size(); ++null) {
        SCOPED_TRACE("operand " + std::to_string(null) + " of call " + std::to_string(c));
        std::vector<std::span<float>> operands;
        for (std::size_t i = 0; i < calls[c].sizes.size(); ++i)
          operands.emplace_back(i == null ? nullptr : memory.data() + 2 * i * side * side, calls[c].sizes[i]);
        refused([&] { calls[c].call(operands); });
      }
    EXPECT_EQ(memory, before);
    const device on = open("cpu");
    const std::span<float> nothing(static_cast<float*>(nullptr), memory.size());
    refused([&] { tw::argsort(memory, std::span(static_cast<std::uint32_t*>(nullptr), memory.size())); });
    refused([&] { on.upload(nothing); });
    refused([&] { on.upload(memory).download(nothing); });
  }
  EXPECT_EQ(tw::reduce(std::span<const float>()), 0.0f) << "no elements at a null address are an empty array";
}

TEST(HostileCalls, WhatWasMovedFromIsRefused) {
  device on = open("cpu");
  array<float> x = on.upload(std::vector<float>(9, 1.0f)), y = on.upload(std::vector<float>(9, 2.0f));
  const array<float> new_home = std::move(x);
  refused([&] { x.download(); });
  refused([&] { x.native(); });
  refused([&] { tw::reduce(x); });
  refused([&] { tw::inclusive_scan(x, y); });
  refused([&] { tw::inclusive_scan(y, x); });
  partial<float> carry;
  refused([&] { tw::inclusive_scan(x, y, {.carry = &carry}); });
  refused([&] { tw::inclusive_scan(y, x, {.carry = &carry}); });
  refused([&] { carry.push(x); });
  EXPECT_EQ(carry.end(), 0u);
  refused([&] { tw::sort(x); });
  refused([&] { tw::matmul(x, {3, 3}, y, {3, 3}); });
  refused([&] { x.device().name(); });
  EXPECT_EQ(tw::reduce(new_home), 9.0f);
  x = tw::sorted(y);
  EXPECT_EQ(tw::reduce(x), 18.0f) << "it may be given a new value";

  const device elsewhere = std::move(on);
  refused([&] { on.info(); });
  refused([&] { on.finish(); });
  refused([&] { on.allocate<float>(3); });
  refused([&] { on.upload(std::vector<float>(3)); });
  refused([&] { view<float>(on, &on, 1); });
  refused([&] { tw::reduce(std::vector<float>(100'000, 1.0f), {.device = on}); });
  EXPECT_EQ(elsewhere.name(), "cpu");
}

TEST(HostileCalls, MoreThanThereIsIsOneKindOfError) {
  const device on = open("cpu");
  for (const std::uint64_t count : {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 50})
    refused([&] { on.allocate<double>(count); }, errc::out_of_memory);
}

}  // namespace
}  // namespace tilewise::tests
