// SPDX-License-Identifier: Apache-2.0
// Matrices with gaps between their rows, in one memory: a result is refused if it would overwrite an element that is
// read, and only then.
#include <tilewise/interop.hpp>
#include <tilewise/tilewise.hpp>

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

/// A matrix within a memory of floats, or a vector as its only row.
struct placed {
  std::uint64_t at;
  matrix_layout of;

  std::vector<std::uint64_t> elements() const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < of.rows * of.columns; ++i)
      all.push_back(at + i / of.columns * of.stride + i % of.columns);
    return all;
  }
  std::uint64_t count() const { return (of.rows - 1) * of.stride + of.columns; }
  bool shares_with(const placed& other) const {
    const auto mine = elements(), theirs = other.elements();
    return std::find_first_of(mine.begin(), mine.end(), theirs.begin(), theirs.end()) != mine.end();
  }
};

/// How one matrix is read and one result written, and whether the result is a vector with one element for each row.
template <class Operand>
struct laid_call {
  const char* name;
  bool of_rows, in_place;
  std::function<void(const Operand&, matrix_layout, Operand&, matrix_layout, const device&)> call;
};

/// `part` makes an operand of some elements of a memory.
template <class Operand, class Part>
std::vector<laid_call<Operand>> laid_calls(const Part& part) {
  using in = const Operand&;
  static std::vector<float> ones(64, 1.0f);
  return {
      {"scan", false, true,
       [](in a, matrix_layout l, Operand& y, matrix_layout to, const device& on) {
         tw::inclusive_scan(along(a, l, axis::columns), along(y, to, axis::columns), {.device = on});
       }},
      {"sort", false, true,
       [](in a, matrix_layout l, Operand& y, matrix_layout to, const device& on) {
         tw::sort(along(a, l, axis::rows), along(y, to, axis::rows), {.device = on});
       }},
      {"matmul", false, false,
       [=](in a, matrix_layout l, Operand& y, matrix_layout to, const device& on) {
         tw::matmul(a, l, part(ones, 0, l.columns * l.columns), {l.columns, l.columns}, y, to, {.device = on});
       }},
      {"matmul from the right", false, false,
       [=](in a, matrix_layout l, Operand& y, matrix_layout to, const device& on) {
         tw::matmul(part(ones, 0, l.rows * l.rows), {l.rows, l.rows}, a, l, y, to, {.device = on});
       }},
      {"matvec", true, false,
       [=](in a, matrix_layout l, Operand& y, matrix_layout, const device& on) {
         tw::matvec(a, l, part(ones, 0, l.columns), y, {.device = on});
       }},
      {"reduce", true, false,
       [](in a, matrix_layout l, Operand& y, matrix_layout, const device& on) {
         tw::reduce(along(a, l, axis::rows), y, {.device = on});
       }},
  };
}

/// The call is refused if and only if the operands share an element. Otherwise the result is as with separate memory.
template <class Operand, class Part>
void expect_elements_alone_to_matter(const laid_call<Operand>& what, placed a, placed y, const device& on,
                                     const Part& part) {
  if (what.of_rows) y.of = {1, a.of.rows};
  SCOPED_TRACE(std::string(what.name) + " of " + std::to_string(a.of.rows) + "x" + std::to_string(a.of.columns) +
               ", strides " + std::to_string(a.of.stride) + " and " + std::to_string(y.of.stride) + ", at " +
               std::to_string(a.at) + " and " + std::to_string(y.at) + " on " + on.name());
  std::vector<float> memory(200);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i * 37 % 101);
  std::vector<float> wanted = memory, result = memory;
  const bool same = a.at == y.at && (a.of.stride == y.of.stride || a.of.rows == 1);
  const bool refuses = a.shares_with(y) && !(what.in_place && same);
  Operand own = part(result, y.at, y.count());
  try {
    what.call(part(memory, a.at, a.count()), a.of, own, y.of, on);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported) << e.what();  // not every backend has every algorithm
    return;
  }
  try {
    Operand in_there = part(memory, y.at, y.count());
    what.call(part(memory, a.at, a.count()), a.of, in_there, y.of, on);
    EXPECT_FALSE(refuses) << "it was taken";
    for (const std::uint64_t i : y.elements()) wanted[i] = result[i];
  } catch (const error& e) {
    EXPECT_TRUE(refuses && e.code() == errc::invalid_argument) << e.what();
  }
  EXPECT_EQ(memory, wanted);
}

template <class Operand, class Part>
void expect_interleaved_matrices_are_fine(const device& on, bool all, const Part& part) {
  for (const laid_call<Operand>& what : laid_calls<Operand>(part))
    for (const auto& [rows, columns] : {std::pair{1, 2}, {2, 1}, {3, 2}, {4, 3}, {2, 4}})
      for (std::uint64_t s = 0; s < (all ? 9 : 1); ++s)
        for (std::uint64_t at = 70; at < 135; at += all ? 1 : 4)
          expect_elements_alone_to_matter<Operand>(
              what, {100, matrix_layout(rows, columns, columns + (all ? s / 3 * 3 : 6))},
              {at, matrix_layout(rows, columns, columns + (all ? s % 3 * 3 : 6))}, on, part);
}

}  // namespace

TEST(CallOverlap, MatricesShareMemoryOnlyWhereAnElementOfBothLies) {
  const auto span = [](std::vector<float>& of, std::uint64_t at, std::uint64_t n) {
    return std::span(of).subspan(at, n);
  };
  expect_interleaved_matrices_are_fine<std::span<float>>(open("cpu:serial"), true, span);
  const device cpu = open("cpu:serial");
  const auto there = [&](std::vector<float>& of, std::uint64_t at, std::uint64_t n) {
    return view<float>(cpu, of.data() + at, n);
  };
  expect_interleaved_matrices_are_fine<array<float>>(cpu, true, there);
  std::vector<device> others = devices();
  const bool has_opencl = std::any_of(others.begin(), others.end(), [](auto& d) { return d.name() == "opencl:0"; });
  others.push_back(open("2*cpu:serial"));
  if (has_opencl) others.push_back(open("opencl:0+opencl:0"));
  for (const device& on : others) expect_interleaved_matrices_are_fine<std::span<float>>(on, false, span);
}

/// A view of an array's memory that goes leaves the memory to the array.
TEST(CallOverlap, AViewOfAnArrayGoesBeforeIt) {
  const std::vector<float> x{1, 2, 3, 4, 5};
  for (const device& on : devices()) {
    if (on.name().find('*') != std::string::npos || on.name().find('+') != std::string::npos) continue;
    const array<float> own = on.upload(x);
    { const array<float> part = view<float>(on, own.native(), own.size()); }
    const array<float> later = on.upload(std::vector<float>(x.size(), 9.0f));
    EXPECT_EQ(own.download(), x) << on.name();
  }
}

}  // namespace tilewise::tests
