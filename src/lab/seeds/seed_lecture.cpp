// A lecture on data-parallel programming. It works out two sums, of five and of eight numbers, and measures nothing.
#include "lab/seeds/seeds.hpp"

namespace tilewise::lab::seeds {

namespace {

/// 1 3 5 7 9, and 1 2 3 4 5 6 7 8.
registry::host_operands inputs(const registry::problem& p) {
  const std::uint64_t step = p.n() == 5 ? 2 : 1;
  return {operand_of<std::int32_t>(p.n(), [step](std::uint64_t i) { return 1 + step * i; })};
}

}  // namespace

std::vector<experiment> lecture() {
  return {{.algorithm = "reduce",
           .document = "S. Kuppannagari, Designing high performant systems for AI, lecture 6, 2025",
           .baseline = "reduce/serial",
           .type = dtype::i32,
           .sizes = {{{5}, "25"}, {{8}, "36"}},
           .inputs = inputs}};
}

}  // namespace tilewise::lab::seeds
