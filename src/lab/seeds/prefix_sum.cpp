// SPDX-License-Identifier: Apache-2.0
// The prefix sum of floats in OpenCL, for many local work sizes and both ways to add the carry.
#include "lab/plan/experiment.hpp"
#include "record/published.hpp"

namespace tilewise::lab::seeds {

namespace {

constexpr registry::extents whole{67108865};
constexpr std::array<counterpart, 1> counterparts{{{"work-efficient scan", {"scan/*:sweep_add @*", ""}}}};

}  // namespace

std::vector<experiment> prefix_sum() {
  return {{.algorithm = "scan",
           .document = record::prefix_sum_document,
           .baseline = "scan/serial",
           .type = dtype::f32,
           .sizes = {{whole, ""}},
           .figures = published_figures(record::prefix_sum_document, counterparts),
           .methods = {{"work-efficient scan", "scan/opencl:sweep_add @*"}},
           .sweep = "scan/opencl:sweep_add"}};
}

}  // namespace tilewise::lab::seeds
