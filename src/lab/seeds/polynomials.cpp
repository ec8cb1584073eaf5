// SPDX-License-Identifier: Apache-2.0
// The product of two polynomials on a GPU with OpenCL, beside CPU threads and MPI.
#include "lab/plan/experiment.hpp"

namespace tilewise::lab::seeds {

namespace {

constexpr registry::extents small{4096, 4096}, large{65536, 65536};
constexpr std::string_view xe = "Intel Iris Xe (96 execution units) and its host";
constexpr std::string_view threads_host = "the host of its exercise on threads, not named";
constexpr std::string_view mpi_host = "the host of its exercise on MPI, not named";

call::host_operands inputs(const registry::problem& p) {
  return {operand_of<std::int32_t>(p.shape[0], [](std::uint64_t i) { return i % 10 + 1; }),
          operand_of<std::int32_t>(p.shape[1], [](std::uint64_t i) { return i % 5 + 2; })};
}

// The document includes launches and transfers in the GPU's times.
std::vector<figure> figures() {
  constexpr std::array<std::string_view, 2> sequential{"polymul/serial @*", "polymul/cpu:naive @cpu:serial"};
  constexpr std::array<std::string_view, 2> naive_threads{"polymul/cpu:naive @cpu:threads", ""};
  constexpr std::array<std::string_view, 2> karatsuba{"polymul/cpu:karatsuba @cpu:serial", ""};
  constexpr std::array<std::string_view, 2> karatsuba_threads{"polymul/cpu:karatsuba @cpu:threads", ""};
  constexpr std::array<std::string_view, 2> global{"polymul/*:global @*", ""}, local{"polymul/*:local @*", ""};
  constexpr std::array<std::string_view, 2> hybrid{"polymul/opencl:karatsuba_host @*", ""};
  constexpr std::array<std::string_view, 2> mpi_naive{"polymul/group:naive @1\\*cpu:serial",
                                                      "polymul/group:naive @1\\*mpi:cpu:serial"};
  constexpr std::array<std::string_view, 2> mpi_karatsuba{"polymul/group:karatsuba @1\\*cpu:serial",
                                                          "polymul/group:karatsuba @1\\*mpi:cpu:serial"};
  return {
      {small, "naive CPU, sequential", sequential, 4.0084e6, false, xe},
      {small, "Karatsuba CPU, sequential", karatsuba, 1.6467e6, false, xe},
      {small, "naive GPU, global memory", global, 3.5325e6, true, xe},
      {small, "naive GPU, local memory", local, 1.3714e6, true, xe},
      {small, "Karatsuba GPU, depth 3", hybrid, 33.7710e6, true, xe},
      {large, "naive CPU, sequential", sequential, 1085.05e6, false, xe},
      {large, "Karatsuba CPU, sequential", karatsuba, 95.1364e6, false, xe},
      {large, "naive GPU, global memory", global, 134.68e6, true, xe},
      {large, "naive GPU, local memory (fell back to global)", local, 141.91e6, true, xe},
      {large, "Karatsuba GPU, depth 3", hybrid, 108.61e6, true, xe},
      {large, "naive CPU, sequential", sequential, 18248.7e6, false, threads_host},
      {large, "naive CPU, threads", naive_threads, 2581.95e6, false, threads_host},
      {large, "Karatsuba CPU, sequential", karatsuba, 1375.18e6, false, threads_host},
      {large, "Karatsuba CPU, threads", karatsuba_threads, 304.392e6, false, threads_host},
      {large, "naive, MPI, 1 process", mpi_naive, 21391.8e6, false, mpi_host},
      {large, "Karatsuba, MPI, 1 process", mpi_karatsuba, 1426.31e6, false, mpi_host},
  };
}

/// The two sizes that it measured, and sizes at which one method overtakes another.
std::vector<measured_size> sizes() {
  std::vector<measured_size> all;
  for (const std::uint64_t n : {256, 1024, 4096, 16384, 65536}) all.push_back({{n, n}, "2 7 16 30 50"});
  return all;
}

constexpr std::string_view in_vectors = "vector instructions; 64-bit sums, and an error where one overflows";
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
          {"naive, MPI", "polymul/group:naive @*", in_vectors},
          {"Karatsuba, MPI", "polymul/group:karatsuba @*", in_vectors}};
}

}  // namespace

std::vector<experiment> polynomials() {
  return {{.algorithm = "polymul",
           .document = "A. Hus, GPU polynomial multiplication with OpenCL, 2025",
           .baseline = "polymul/cpu:naive",
           .type = dtype::i32,
           .sizes = sizes(),
           .inputs = inputs,
           .figures = figures(),
           .methods = methods(),
           .ranks = {1, 2, 4}}};
}

}  // namespace tilewise::lab::seeds
