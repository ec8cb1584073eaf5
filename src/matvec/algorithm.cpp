// SPDX-License-Identifier: Apache-2.0
// The descriptor of matvec.
#include "base/lasting.hpp"
#include "matvec/problem.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise::impl::matvec {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

// No elements, one element, around one vector, one row of threads and one tile in both directions; strided rows; dot
// products.
constexpr std::array<extents, 36> edge_shapes{{
    {0, 0},           {0, 5},        {5, 0},      {1, 1},      {1, 2},     {1, 3},     {2, 1},    {3, 7},
    {7, 3},           {8, 8},        {5, 31},     {16, 33},    {33, 16},   {31, 255},  {1, 1025}, {1, 65537},
    {2, 8191},        {3, 4097},     {1025, 1},   {8193, 3},   {65536, 2}, {64, 64},   {63, 129}, {127, 511},
    {257, 127},       {131, 1031},   {17, 16384}, {1, 262147}, {1021, 17}, {300, 300}, {3, 5, 7}, {129, 65, 70},
    {37, 1027, 1028}, {1, 100, 200}, {0, 7, 0},   {32, 160},
}};
constexpr std::array<extents, 3> quick_shapes{{{256, 256}, {1024, 1024}, {4096, 4096}}};
constexpr std::array<extents, 9> normal_shapes{{{256, 256},
                                                {1024, 1024},
                                                {2048, 2048},
                                                {4096, 4096},
                                                {8192, 8192},
                                                {64, 1048576},
                                                {1048576, 64},
                                                {1, 67108865},
                                                {16384, 16384}}};

std::vector<operand> inputs(const problem& p) {
  const sizes s(p);
  const matrix_layout a(s.m, s.n, s.lda);
  return {{"a", p.type, registry::elements_of(a), false, registry::undivided(a)}, {"x", p.type, s.n}};
}
std::vector<operand> outputs(const problem& p) { return {{"y", p.type, sizes(p).m}}; }

double area(const problem& p) { return static_cast<double>(sizes(p).m) * static_cast<double>(sizes(p).n); }
double compulsory_bytes(const problem& p) {
  const sizes s(p);
  return (area(p) + static_cast<double>(s.m) + static_cast<double>(s.n)) * static_cast<double>(size_of(p.type));
}
double operations(const problem& p) { return 2.0 * area(p); }

std::string invalid(const problem& p) {
  const sizes s(p);
  return registry::invalid_matrix("A", {s.m, s.n, s.lda}, p.type);
}

constexpr std::array<registry::parameter, 2> arrays{{{"a", "mn", "a matrix"}, {"x", "n", "a vector"}}};
constexpr registry::signature called{
    .says = "the product of a matrix and a vector",
    .sizes = "mn",
    .inputs = arrays,
    .result = {"y", "m", "where it goes; required; may be an input"},
    .notes =
        "Each element is the sum, in the order of `tilewise reduce`, of the products of a\n"
        "row with x; the file is the same to the last byte on every device. Integers\n"
        "wrap.\n"
        "For a dot product use a matrix of one row. \"-\" is standard input or output. It\n"
        "takes the memory of all three.",
    .examples =
        "  tilewise matvec a.npy x.npy -o y.npy\n"
        "  tilewise matvec a.npy x.npy -o y.npy --device opencl:0 --json"};

}  // namespace

const registry::algorithm& matvec_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "matvec",
        .summary = "matrix-vector product and dot product, in the reduction's order",
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
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::matvec
