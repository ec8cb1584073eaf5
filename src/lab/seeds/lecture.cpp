// SPDX-License-Identifier: Apache-2.0
// A lecture on data-parallel programming. It works out two sums, of five and of eight numbers, and measures nothing.
// The methods that it describes are measured here at sizes that we chose.
#include "lab/plan/experiment.hpp"

namespace tilewise::lab::seeds {

namespace {

constexpr std::string_view document = "S. Kuppannagari, Designing high performant systems for AI, lecture 6, 2025";

/// 1 3 5 7 9, and 1 2 3 4 5 6 7 8.
call::host_operands inputs(const registry::problem& p) {
  const std::uint64_t step = p.n() == 5 ? 2 : 1;
  return {operand_of<std::int32_t>(p.n(), [step](std::uint64_t i) { return 1 + step * i; })};
}

experiment sums() {
  return {.algorithm = "reduce",
          .document = document,
          .baseline = "reduce/serial",
          .type = dtype::i32,
          .sizes = {{{5}, "25"}, {{8}, "36"}},
          .inputs = inputs,
          .methods = {{"recursive doubling", "reduce/opencl:doubling @*"}}};
}

experiment long_sums() {
  return {.algorithm = "reduce",
          .document = document,
          .baseline = "reduce/serial",
          .type = dtype::f32,
          .sizes = {{{4096}, ""}, {{65536}, ""}, {{1048576}, ""}, {{16777216}, ""}},
          .methods = {{"recursive doubling, one element an item", "reduce/opencl:doubling @*"},
                      {"two phases, many elements an item", "reduce/*:two_phase @*"},
                      {"threads", "reduce/cpu @cpu:threads"}}};
}

/// The blocked product with blocks of any size, and with K divided as well.
experiment blocks() {
  return {.algorithm = "matmul",
          .document = document,
          .baseline = "matmul/opencl:simple",
          .baseline_device = "opencl:0",
          .type = dtype::f32,
          .sizes = {{{768, 768, 768}, ""}},
          .methods = {{"partition the output", "matmul/opencl:blocked @*"},
                      {"partition input and output", "matmul/opencl:split_k @*"}},
          .only = "matmul/opencl:[bs]*",
          .sweep = "matmul/opencl:blocked"};
}

}  // namespace

std::vector<experiment> lecture() { return {sums(), long_sums(), blocks()}; }

}  // namespace tilewise::lab::seeds
