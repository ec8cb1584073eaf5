// SPDX-License-Identifier: Apache-2.0
// The descriptor of matmul.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "matmul/problem.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise::impl::matmul {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

// No elements, vectors, sizes around one tile of 16, of 64 and of 128, long and short chains, only whole tiles in one
// direction, and strided rows.
constexpr std::array<extents, 33> edge_shapes{{
    {0, 0, 0},
    {0, 3, 2},
    {3, 0, 2},
    {2, 3, 0},
    {1, 1, 1},
    {1, 1, 257},
    {1, 17, 3},
    {17, 1, 5},
    {2, 3, 4},
    {3, 3, 3},
    {7, 5, 11},
    {15, 16, 17},
    {16, 16, 16},
    {17, 16, 15},
    {31, 33, 32},
    {64, 64, 64},
    {65, 63, 67},
    {63, 65, 1},
    {127, 129, 33},
    {128, 128, 16},
    {129, 127, 31},
    {1, 300, 300},
    {300, 1, 300},
    {5, 7, 1031},
    {257, 131, 19},
    {131, 257, 67},
    {260, 270, 530},
    {5, 7, 12288},
    {12288, 6, 5},
    {6, 12288, 5},
    {3, 5, 7, 9, 11, 13},
    {37, 41, 43, 47, 64, 42},
    {130, 140, 70, 72, 144, 160},
}};
constexpr std::array<extents, 3> quick_shapes{{{128, 128, 128}, {512, 512, 512}, {1024, 1024, 1024}}};
constexpr std::array<extents, 6> normal_shapes{
    {{128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}}};

/// An operand of which each rank of a group holds whole rows.
operand rows_of(std::string_view name, dtype type, const matrix_layout& of) {
  return {name, type, registry::elements_of(of), false, std::max<std::uint64_t>(1, of.stride)};
}

std::vector<operand> inputs(const problem& p) {
  const sizes s(p);
  return {rows_of("a", p.type, {s.m, s.k, s.lda}), rows_of("b", p.type, {s.k, s.n, s.ldb})};
}
std::vector<operand> outputs(const problem& p) {
  const sizes s(p);
  operand c = rows_of("c", p.type, {s.m, s.n, s.ldc});
  c.has_gaps = s.ldc > s.n;
  return {c};
}

double compulsory_bytes(const problem& p) {
  const sizes s(p);
  const auto area = [](std::uint64_t rows, std::uint64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
  };
  return (area(s.m, s.k) + area(s.k, s.n) + area(s.m, s.n)) * static_cast<double>(size_of(p.type));
}
/// A fused multiply-add counts as two.
double operations(const problem& p) {
  const sizes s(p);
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

std::string invalid(const problem& p) {
  const sizes s(p);
  for (const auto& why : {registry::invalid_matrix("A", {s.m, s.k, s.lda}, p.type),
                          registry::invalid_matrix("B", {s.k, s.n, s.ldb}, p.type),
                          registry::invalid_matrix("C", {s.m, s.n, s.ldc}, p.type)})
    if (!why.empty()) return why;
  return "";
}

std::string text_of(matrix_layout l) { return registry::shape_text(l.rows, l.columns); }

void require_fit(matrix_layout a, matrix_layout b, matrix_layout c) {
  if (a.columns != b.rows)
    throw error(errc::invalid_argument,
                "A is " + text_of(a) + " and B is " + text_of(b) + "; A must have as many columns as B has rows");
  if (c.rows != a.rows || c.columns != b.columns)
    throw error(errc::invalid_argument, "C is " + text_of(c) + ", but the product of A, " + text_of(a) + ", and B, " +
                                            text_of(b) + ", is " + registry::shape_text(a.rows, b.columns));
}

problem describe(const detail::request& r) {
  const matrix_layout &a = r.in[0].of, &b = r.in[1].of, &c = r.out[0].of;
  require_fit(a, b, c);
  if (registry::is_packed(a) && registry::is_packed(b) && registry::is_packed(c))
    return call::described(matmul_algorithm(), r, {a.rows, b.columns, a.columns});
  return call::described(matmul_algorithm(), r, {a.rows, b.columns, a.columns, a.stride, b.stride, c.stride});
}

constexpr std::array<registry::parameter, 2> arrays{{{"a", "mk", "a matrix"}, {"b", "kn", "another"}}};
constexpr registry::signature called{
    .says = "the product of two matrices",
    .sizes = "mnk",
    .inputs = arrays,
    .result = {"c", "mn", "where it goes; required; may be an input"},
    .notes =
        "Each element is one chain of fused multiply-adds, k ascending from +0; the file\n"
        "is the same to the last byte on every device. Integers wrap. With --fast the\n"
        "result may be less exact, for example with TF32, and may differ by device.\n"
        "\"-\" is standard input or output. It takes the memory of all three.",
    .examples =
        "  tilewise matmul a.npy b.npy -o c.npy\n"
        "  tilewise matmul a.npy b.npy -o c.npy --device cuda:0 --fast -v"};

}  // namespace

const registry::algorithm& matmul_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "matmul",
        .summary = "matrix product, each element one chain of fused multiply-adds",
        .types = all_dtypes,
        .settings = {},
        .numbers = {},
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .compulsory_bytes = compulsory_bytes,
        .operations = operations,
        .called = &called,
        .invalid = invalid,
        .describe = describe,
        .divides = &division,
        .speed_in = registry::speed_unit::operations,
        .fuses = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::matmul
