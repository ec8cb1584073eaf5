// SPDX-License-Identifier: Apache-2.0
// The operands that every call takes, in host memory and as arrays. A call refuses an operand of the wrong size and
// then writes nothing. It does not change what lies beyond a matrix's shape, nor neighbouring memory.
#include <tilewise/interop.hpp>
#include <tilewise/tilewise.hpp>

#include <functional>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

struct size {
  std::uint64_t elements;
  bool may_be_more = false;  // for matrices
};

/// A call, and the size that each of its operands needs.
template <class Operand>
struct sized_call {
  std::string name;
  std::vector<size> sizes;
  std::function<void(std::vector<Operand>&)> call;
};

template <class Operand>
std::vector<sized_call<Operand>> vector_calls(std::uint64_t n) {
  using operands = std::vector<Operand>;
  std::vector<sized_call<Operand>> all{
      {"sort", {{n}, {n}}, [](operands& o) { tw::sort(o[0], o[1]); }},
      {"sort_by_key", {{n}, {n}, {n}, {n}}, [](operands& o) { tw::sort_by_key(o[0], o[1], o[2], o[3]); }},
      {"sort_by_key in place", {{n}, {n}}, [](operands& o) { tw::sort_by_key(o[0], o[1]); }},
      {"dot", {{n}, {n}}, [](operands& o) { tw::dot(o[0], o[1]); }},
  };
  const auto add_scan = [&](const std::string& name, const auto& scan) {
    all.push_back({name, {{n}, {n}}, [scan](operands& o) { scan(o[0], o[1], scan_options{}); }});
    all.push_back(
        {name + " from a value", {{n}, {n}}, [scan](operands& o) { scan(o[0], o[1], scan_options{.init = 2.0f}); }});
    all.push_back({name + " of a part", {{n}, {n}}, [scan](operands& o) {
                     partial<float> carry;
                     scan(o[0], o[1], scan_options{.carry = &carry});
                   }});
  };
  add_scan("inclusive_scan", [](auto&&... o) { tw::inclusive_scan(o...); });
  add_scan("exclusive_scan", [](auto&&... o) { tw::exclusive_scan(o...); });
  return all;
}

/// For rows with gaps.
template <class Operand>
std::vector<sized_call<Operand>> line_calls(std::uint64_t rows, std::uint64_t columns) {
  using operands = std::vector<Operand>;
  const matrix_layout a(rows, columns, columns + 3), b(rows, columns, columns + 1);
  const size of_a{a.stride * (rows - 1) + columns, true}, of_b{b.stride * (rows - 1) + columns, true};
  std::vector<sized_call<Operand>> all;
  for (const axis to : {axis::rows, axis::columns}) {
    const std::uint64_t lines = to == axis::rows ? rows : columns;
    all.push_back({"reduce_axis", {of_a, {lines}}, [=](operands& o) { tw::reduce(along(o[0], a, to), o[1]); }});
    all.push_back({"reduce_axis from a value", {of_a, {lines}}, [=](operands& o) {
                     tw::reduce(along(o[0], a, to), o[1], {.init = 2.0f});
                   }});
    all.push_back({"inclusive_scan_axis", {of_a, of_b}, [=](operands& o) {
                     tw::inclusive_scan(along(o[0], a, to), along(o[1], b, to));
                   }});
    all.push_back({"exclusive_scan_axis", {of_a, of_b}, [=](operands& o) {
                     tw::exclusive_scan(along(o[0], a, to), along(o[1], b, to), {.init = 2.0f});
                   }});
    all.push_back({"sort_axis", {of_a, of_b}, [=](operands& o) { tw::sort(along(o[0], a, to), along(o[1], b, to)); }});
  }
  return all;
}

template <class Operand>
std::vector<sized_call<Operand>> product_calls(std::uint64_t m, std::uint64_t k) {
  using operands = std::vector<Operand>;
  const std::uint64_t n = 3;
  const matrix_layout a(m, k, k + 3), b(k, n, n + 1), c(m, n, n + 2);
  const size of_a{a.stride * (m - 1) + k, true}, of_b{b.stride * (k - 1) + n, true}, of_c{c.stride * (m - 1) + n, true};
  const image_size image{m, k}, mask{3, 1};
  const diffusion steps{.rows = m, .columns = k};
  return {
      {"matmul", {of_a, of_b, of_c}, [=](operands& o) { tw::matmul(o[0], a, o[1], b, o[2], c); }},
      {"matvec", {of_a, {k}, {m}}, [=](operands& o) { tw::matvec(o[0], a, o[1], o[2]); }},
      {"polymul", {{m}, {k}, {m + k - 1}}, [=](operands& o) { tw::polymul(o[0], o[1], o[2]); }},
      {"convolve", {{m * k}, {3}, {(m - 2) * k}}, [=](operands& o) { tw::convolve(o[0], image, o[1], mask, o[2]); }},
      {"diffuse", {{m * k}, {m * k}}, [=](operands& o) { tw::diffuse(o[0], o[1], steps); }},
  };
}

template <class Operand>
std::vector<sized_call<Operand>> all_calls(std::uint64_t rows, std::uint64_t columns) {
  std::vector<sized_call<Operand>> all = vector_calls<Operand>(rows * columns);
  for (const auto& more : {line_calls<Operand>(rows, columns), product_calls<Operand>(rows, columns)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// `make` turns host memory into an operand, `host` returns what the operand contains.
template <class Operand, class Make, class Host>
void expect_sizes_matter(const Make& make, const Host& host) {
  for (const auto& [rows, columns] : {std::pair{4, 5}, std::pair{37, 41}})
    for (const sized_call<Operand>& what : all_calls<Operand>(rows, columns))
      for (std::size_t changed = 0; changed < what.sizes.size(); ++changed)
        for (const int by : {-1, 0, 1}) {
          SCOPED_TRACE(what.name + ", operand " + std::to_string(changed) + " by " + std::to_string(by));
          std::vector<std::vector<float>> memory;
          for (std::size_t i = 0; i < what.sizes.size(); ++i)
            memory.emplace_back(what.sizes[i].elements + (i == changed ? by : 0), 1.0f + static_cast<float>(i));
          const auto before = memory;
          std::vector<Operand> operands;
          for (std::vector<float>& each : memory) operands.push_back(make(each));
          const bool is_fine = by == 0 || (by == 1 && what.sizes[changed].may_be_more);
          try {
            what.call(operands);
            EXPECT_TRUE(is_fine) << "it was taken";
          } catch (const error& e) {
            EXPECT_FALSE(is_fine) << e.what();
            EXPECT_EQ(e.code(), errc::invalid_argument) << e.what();
            for (std::size_t i = 0; i < operands.size(); ++i)
              EXPECT_EQ(host(operands[i]), before[i]) << "operand " << i;
          }
        }
}

/// All operands in one memory, each beginning where the one before ends, in order or in reverse.
template <class Operand, class Part>
void expect_neighbours_are_fine(const Part& part) {
  for (const auto& [rows, columns] : {std::pair{4, 5}, std::pair{37, 41}})
    for (const sized_call<Operand>& what : all_calls<Operand>(rows, columns))
      for (const bool in_order : {true, false}) {
        std::uint64_t end = 0;
        for (const size& each : what.sizes) end += each.elements;
        std::vector<float> memory(end, 1.0f);
        std::vector<Operand> operands;
        for (std::uint64_t at = in_order ? 0 : end; const size& each : what.sizes) {
          if (!in_order) at -= each.elements;
          operands.push_back(part(std::span(memory).subspan(at, each.elements)));
          if (in_order) at += each.elements;
        }
        EXPECT_NO_THROW(what.call(operands)) << what.name << " of " << rows << "x" << columns;
      }
}

/// The message. Fails if there is no error, or one with another code.
template <class Call>
std::string refused(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "it was taken";
  return "";
}
template <class Call>
void expect_refused_for(const std::string& words, const Call& call) {
  const std::string text = refused(call);
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

}  // namespace

TEST(CallOperands, SizesOfHostMemory) {
  expect_sizes_matter<std::span<float>>([](std::vector<float>& memory) { return std::span(memory); },
                                        [](const std::span<float>& o) { return std::vector(o.begin(), o.end()); });
}

TEST(CallOperands, SizesOfArrays) {
  const device on = open("cpu");
  expect_sizes_matter<array<float>>([&](const std::vector<float>& memory) { return on.upload(memory); },
                                    [](const array<float>& o) { return o.download(); });
}

TEST(CallOperands, SizesOfIndices) {
  const device on = open("cpu");
  for (const std::uint64_t n : {5, 1000}) {
    const std::vector<float> x(n, 1.0f);
    for (const std::uint64_t room : {n - 1, n + 1}) {
      std::vector<std::uint32_t> indices(room, 7), before = indices;
      array<std::uint32_t> there = on.upload(indices);
      EXPECT_THROW(tw::argsort(x, indices), error);
      EXPECT_THROW(tw::argsort(on.upload(x), there), error);
      EXPECT_EQ(indices, before);
      EXPECT_EQ(there.download(), before);
    }
  }
}

/// Refused before the sorted keys are allocated, for which no machine has enough memory. The operands claim more
/// elements than their memory has, so nothing may read them.
TEST(CallOperands, MoreElementsThanHaveIndicesAreRefused) {
  const std::uint64_t n = std::uint64_t{1} << 60;
  float x = 1.0f;
  std::uint32_t place = 7;
  const std::string words = "too many for 32-bit indices";
  expect_refused_for(words, [&] { tw::argsort(std::span<const float>(&x, n), std::span(&place, n)); });
  const device on = open("cpu");
  array<std::uint32_t> places = view<std::uint32_t>(on, &place, n);
  expect_refused_for(words, [&] { tw::argsort(view<float>(on, &x, n), places); });
  EXPECT_EQ(place, 7u);
}

TEST(CallOperands, NeighboursInMemoryShareNothing) {
  const device on = open("cpu");
  expect_neighbours_are_fine<std::span<float>>([](std::span<float> of) { return of; });
  expect_neighbours_are_fine<array<float>>([&](std::span<float> of) { return view<float>(on, of.data(), of.size()); });
}

/// They point to existing memory, unlike a null pointer.
TEST(CallOperands, PartsOfNoElementsAreEmpty) {
  std::vector<float> x(4, 3.0f);
  const std::span<float> none = std::span(x).first(0);
  EXPECT_EQ(tw::reduce(none), 0.0f);
  EXPECT_EQ(tw::reduce(none, {.op = op::product}), 1.0f);
  EXPECT_EQ(tw::reduce(none, {.op = op::max, .init = 5.0f}), 5.0f);
  refused([&] { tw::reduce(none, {.op = op::min}); });
  EXPECT_EQ(tw::dot(none, none), 0.0f);
  EXPECT_NO_THROW(tw::inclusive_scan(none, none));
  EXPECT_NO_THROW(tw::sort(none));
  EXPECT_EQ(tw::reduce(along(none, {0, 0}, axis::rows), {.op = op::min}), std::vector<float>());
  EXPECT_EQ(x, std::vector<float>(4, 3.0f));
}

/// Tests the first number after the named values.
TEST(CallOperands, NumbersThatNameNothingAreRefused) {
  const device on = open("cpu");
  for (const std::uint64_t side : {2, 60}) {
    std::vector<float> x(side * side, 1.0f), y = x;
    const array<float> there = on.upload(x);
    array<float> to = on.upload(y);
    const matrix_layout square(side, side);
    const op no_op{4};
    refused([&] { tw::reduce(x, {.op = no_op}); });
    refused([&] { tw::reduce(x, {.op = no_op, .init = 2.0f}); });
    refused([&] { tw::reduce(there, {.op = no_op}); });
    refused([&] { partial<float>{no_op}; });
    refused([&] { tw::inclusive_scan(x, y, {.op = no_op}); });
    refused([&] { tw::exclusive_scan(x, y, {.op = no_op, .init = 2.0f}); });
    refused([&] { tw::inclusive_scan(there, to, {.op = no_op}); });
    refused([&] { tw::reduce(along(x, square, axis::rows), {.op = no_op}); });
    refused([&] { tw::inclusive_scan(along(x, square, axis::rows), along(y, square, axis::rows), {.op = no_op}); });
    const sort_order no_order{2};
    refused([&] { tw::sort(x, y, {.order = no_order}); });
    refused([&] { tw::sort(there, to, {.order = no_order}); });
    refused([&] { tw::argsort(x, {.order = no_order}); });
    refused([&] { tw::sort_by_key(x, y, {.order = no_order}); });
    refused([&] { tw::sort(along(x, square, axis::rows), {.order = no_order}); });
    const axis no_axis{2};
    refused([&] { tw::reduce(along(x, square, no_axis), std::span(y).first(side)); });
    refused([&] { tw::inclusive_scan(along(x, square, no_axis), along(y, square, no_axis)); });
    refused([&] { tw::sort(along(x, square, no_axis)); });
    refused([&] { tw::convolve(x, {side, side}, std::span(x).first(1), {1, 1}, y, {.border = border{2}}); });
    EXPECT_EQ(y, std::vector<float>(side * side, 1.0f));
    EXPECT_EQ(to.download(), y);
  }
}

/// An equal number of elements is not an equal shape.
TEST(CallOperands, ShapesOfOneSideAlikeAreRefused) {
  std::vector<float> a(64, 1.0f), out(64, 2.0f);
  for (const std::uint64_t size : {24, 26})
    expect_refused_for("has " + std::to_string(size) + " elements; there is one result for each element", [&] {
      tw::inclusive_scan(along(a, {5, 5}, axis::rows), std::span(out).first(size));
    });
  for (const matrix_layout& other :
       {matrix_layout(4, 5), matrix_layout(6, 5), matrix_layout(5, 4), matrix_layout(5, 6)})
    for (const axis to : {axis::rows, axis::columns}) {
      expect_refused_for("one result for each element", [&] {
        tw::inclusive_scan(along(a, {5, 5}, to), along(out, other, to));
      });
      expect_refused_for("one result for each element", [&] { tw::sort(along(a, {5, 5}, to), along(out, other, to)); });
    }
  EXPECT_EQ(out, std::vector<float>(64, 2.0f));
}

TEST(CallOperands, MatricesAlongDifferentAxesAreRefused) {
  std::vector<float> a(4, 1.0f), out(4, 2.0f);
  const auto in = along(a, {2, 2}, axis::rows), to = along(out, {2, 2}, axis::columns);
  expect_refused_for("the same axis for both", [&] { tw::inclusive_scan(in, to); });
  expect_refused_for("the same axis for both", [&] { tw::sort(in, to); });
  EXPECT_EQ(out, std::vector<float>(4, 2.0f));
}

TEST(CallOperands, ACarryOfOtherElementsIsRefused) {
  const std::vector<float> x(4, 1.0f);
  std::vector<float> y(4, 2.0f);
  partial<double> carry;
  expect_refused_for("the carry is of f64 and the input of f32", [&] { tw::inclusive_scan(x, y, {.carry = &carry}); });
  EXPECT_EQ(y, std::vector<float>(4, 2.0f));
  EXPECT_EQ(carry.end(), 0u);
}

TEST(CallOperands, ACarryAlongAnAxisIsRefused) {
  const std::vector<float> x(4, 1.0f);
  std::vector<float> y(4, 2.0f);
  partial<float> carry;
  expect_refused_for("a carry continues one array", [&] {
    tw::inclusive_scan(along(x, {2, 2}, axis::rows), y, {.carry = &carry});
  });
  EXPECT_EQ(y, std::vector<float>(4, 2.0f));
  EXPECT_EQ(carry.end(), 0u);
}

/// Two rows at a distance of 2^63 elements seem to end where they begin if the size wraps; one row of 2^61 floats has
/// 2^63 bytes.
TEST(CallOperands, RowsThatReachBeyondAllAddressesAreRefused) {
  std::vector<float> a(4, 1.0f), out(4, 2.0f);
  const std::string words = "more bytes than a 64-bit address reaches";
  for (const matrix_layout& huge :
       {matrix_layout(2, std::uint64_t{1} << 63), matrix_layout(1, std::uint64_t{1} << 61)}) {
    expect_refused_for(words, [&] { tw::reduce(along(a, huge, axis::rows), std::span(out).first(huge.rows)); });
    expect_refused_for(words, [&] { tw::inclusive_scan(along(a, huge, axis::rows), along(out, huge, axis::rows)); });
    expect_refused_for(words, [&] { tw::sort(along(a, huge, axis::rows), along(out, huge, axis::rows)); });
    expect_refused_for(words, [&] { tw::matmul(a, huge, a, {huge.columns, 1}, out, {huge.rows, 1}); });
  }
  EXPECT_EQ(out, std::vector<float>(4, 2.0f));
}

/// A longer destination is refused too, since its end would keep its old content.
TEST(CallOperands, DownloadsIntoAnotherSizeAreRefused) {
  for (const char* name : {"cpu:serial", "2*cpu:serial"}) {
    const array<float> there = open(name).upload(std::vector<float>(50, 1.0f));
    for (const std::size_t size : {0, 49, 51}) {
      std::vector<float> to(size, 2.0f);
      expect_refused_for("the sizes must be equal", [&] { there.download(std::span(to)); });
      EXPECT_EQ(to, std::vector<float>(size, 2.0f)) << name;
    }
  }
}

/// An output as long as the input, in the same place and one element further: it would overwrite elements before they
/// are read.
template <class Part>
void expect_no_result_in_place(const Part& part) {
  std::vector<float> memory(40, 1.0f), other(36, 1.0f);
  const auto x = part(memory, 0, 36), b = part(other, 0, 36), one = part(other, 0, 1);
  const matrix_layout square(6, 6), column(36, 1);
  for (const std::uint64_t at : {0, 1}) {
    auto y = part(memory, at, 36);
    const auto refused_for_its_own = [](const auto& call) { expect_refused_for("give it memory of its own", call); };
    refused_for_its_own([&] { tw::matmul(x, square, b, square, y, square); });
    refused_for_its_own([&] { tw::convolve(x, {6, 6}, one, {1, 1}, y); });
    refused_for_its_own([&] { tw::diffuse(x, y, {.rows = 6, .columns = 6}); });
    refused_for_its_own([&] { tw::polymul(x, one, y); });
    refused_for_its_own([&] { tw::matvec(x, column, one, y); });
    refused_for_its_own([&] { tw::reduce(along(x, column, axis::rows), y); });
  }
  EXPECT_EQ(memory, std::vector<float>(40, 1.0f));
}

TEST(CallOperands, ResultsInThePlaceOfTheirInputAreRefusedWhereTheyWouldSpoilIt) {
  const device on = open("cpu");
  expect_no_result_in_place(
      [](std::vector<float>& of, std::uint64_t at, std::uint64_t n) { return std::span(of).subspan(at, n); });
  expect_no_result_in_place(
      [&](std::vector<float>& of, std::uint64_t at, std::uint64_t n) { return view<float>(on, of.data() + at, n); });
}

TEST(CallOperands, RefusalsAdviseWhatTheCallMayDo) {
  std::vector<float> x(60, 1.0f);
  const std::span<float> all(x), shifted = all.subspan(1, 50);
  expect_refused_for("pass the same operand", [&] { tw::sort(all.first(50), shifted); });
  expect_refused_for("give it memory of its own",
                     [&] { tw::diffuse(all.first(50), shifted, {.rows = 5, .columns = 10}); });
  const device on = open("cpu:serial");
  const array<float> there = on.upload(x);
  expect_refused_for("opened separately", [&] { tw::reduce(there, {.device = open("cpu:serial", {.threads = 1})}); });
  const std::string other = refused([&] { tw::reduce(there, {.device = open("cpu:threads")}); });
  EXPECT_EQ(other.find("opened separately"), std::string::npos) << other;
}

}  // namespace tilewise::tests
