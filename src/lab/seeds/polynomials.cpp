// SPDX-License-Identifier: Apache-2.0
// The product of two polynomials on a GPU with OpenCL, beside CPU threads and MPI.
#include "lab/plan/experiment.hpp"
#include "record/published.hpp"

namespace tilewise::lab::seeds {

namespace {

call::host_operands inputs(const registry::problem& p) {
  return {operand_of<std::int32_t>(p.shape[0], [](std::uint64_t i) { return i % 10 + 1; }),
          operand_of<std::int32_t>(p.shape[1], [](std::uint64_t i) { return i % 5 + 2; })};
}

constexpr std::array<counterpart, 10> counterparts{
    {{"naive CPU, sequential", {"polymul/serial @*", "polymul/cpu:naive @cpu:serial"}},
     {"Karatsuba CPU, sequential", {"polymul/cpu:karatsuba @cpu:serial", ""}},
     {"naive GPU, global memory", {"polymul/*:global @*", ""}},
     {"naive GPU, local memory", {"polymul/*:local @*", ""}},
     {"naive GPU, local memory (fell back to global)", {"polymul/*:local @*", ""}},
     {"Karatsuba GPU, depth 3", {"polymul/opencl:karatsuba_host @*", ""}},
     {"naive CPU, threads", {"polymul/cpu:naive @cpu:threads", ""}},
     {"Karatsuba CPU, threads", {"polymul/cpu:karatsuba @cpu:threads", ""}},
     {"naive, MPI, 1 process", {"polymul/group:naive @1\\*cpu:serial", "polymul/group:naive @1\\*mpi:cpu:serial"}},
     {"Karatsuba, MPI, 1 process",
      {"polymul/group:karatsuba @1\\*cpu:serial", "polymul/group:karatsuba @1\\*mpi:cpu:serial"}}}};

/// The two sizes that it measured, and sizes at which one method overtakes another.
std::vector<measured_size> sizes() {
  std::vector<measured_size> all;
  for (const std::uint64_t n : {256, 1024, 4096, 16384, 65536}) all.push_back({{n, n}, "2 7 16 30 50"});
  return all;
}

/// Below 2^63 for all of the sizes.
std::string coefficient_sum(const registry::problem&, const call::host_operands& expected) {
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < expected.front().size(); at += sizeof(std::int32_t)) {
    std::int32_t coefficient = 0;
    std::memcpy(&coefficient, &expected.front()[at], sizeof coefficient);
    sum += coefficient;
  }
  return std::to_string(sum);
}

constexpr std::string_view in_vectors = "vector instructions; 64-bit sums, and an error where one overflows";
constexpr std::string_view in_threads =
    "its ranks are threads of one process, without MPI (mpirun has processes); vector instructions; 64-bit sums, and "
    "an error where one overflows";
constexpr std::string_view in_64_bits = "64-bit sums, and an error where one overflows";

std::vector<method> methods() {
  return {{"naive CPU, sequential", "polymul/cpu:naive @cpu:serial", in_vectors},
          {"Karatsuba CPU, sequential", "polymul/cpu:karatsuba @cpu:serial", in_vectors},
          {"naive CPU, threads", "polymul/cpu:naive @cpu:threads", in_vectors},
          {"Karatsuba CPU, threads", "polymul/cpu:karatsuba @cpu:threads", in_vectors},
          {"naive GPU, global memory", "polymul/*:global @*", in_64_bits},
          {"naive GPU, local memory", "polymul/*:local @*",
           "64-bit sums; where local memory is too small it is refused instead of replaced by global memory"},
          {"Karatsuba GPU, depth 3", "polymul/opencl:karatsuba_host @*", in_64_bits},
          {"ours: Karatsuba GPU, data kept on the device", "polymul/*:karatsuba @*:?",
           "the document's data go to the host and back at each level"},
          {"naive, MPI", "polymul/group:naive @*mpi:*", in_vectors},
          {"Karatsuba, MPI", "polymul/group:karatsuba @*mpi:*", in_vectors},
          {"naive, MPI", "polymul/group:naive @*", in_threads},
          {"Karatsuba, MPI", "polymul/group:karatsuba @*", in_threads}};
}

}  // namespace

std::vector<experiment> polynomials() {
  return {{.algorithm = "polymul",
           .document = record::polynomials_document,
           .baseline = "polymul/cpu:naive",
           .type = dtype::i32,
           .sizes = sizes(),
           .inputs = inputs,
           .figures = published_figures(record::polynomials_document, counterparts),
           .methods = methods(),
           .ranks = {1, 2, 4},
           .check = {"coefficient sum", coefficient_sum}}};
}

}  // namespace tilewise::lab::seeds
