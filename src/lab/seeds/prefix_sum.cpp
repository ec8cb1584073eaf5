// SPDX-License-Identifier: Apache-2.0
// The prefix sum of floats in OpenCL, for many local work sizes and both ways to add the carry.
#include "lab/plan/experiment.hpp"

namespace tilewise::lab::seeds {

namespace {

constexpr registry::extents whole{67108865};
constexpr std::array<std::string_view, 2> sweep_add{"scan/*:sweep_add @*", ""};
constexpr std::string_view fastest = "the fastest of its devices, not named; local size 64";

}  // namespace

std::vector<experiment> prefix_sum() {
  return {{.algorithm = "scan",
           .document = "Y. Fayzieva, Laboratory 2: prefix sum",
           .baseline = "scan/serial",
           .type = dtype::f32,
           .sizes = {{whole, ""}},
           .figures = {{whole, "work-efficient scan", sweep_add, 4.40164e6, false, fastest},
                       {whole, "work-efficient scan", sweep_add, 68.5949e6, true, fastest}},
           .methods = {{"work-efficient scan", "scan/opencl:sweep_add @*"}},
           .sweep = "scan/opencl:sweep_add"}};
}

}  // namespace tilewise::lab::seeds
