// SPDX-License-Identifier: Apache-2.0
// Blocked matrix product and merge sort in OpenCL. Inputs are random; for the sort also sorted and reversed. The
// document shows its times only in plots. Its text names only the smallest and the largest sizes of the sorts, and says
// that it tests rectangular products without their sizes: those here are ours.
#include "lab/plan/experiment.hpp"
#include "record/published.hpp"

namespace tilewise::lab::seeds {

namespace {

std::vector<method> products() {
  return {{"simple product, CPU", "matmul/cpu:simple @cpu:serial", "vector instructions, fused multiply-adds"},
          {"blocked product, CPU", "matmul/cpu:blocked @cpu:serial", "vector instructions, fused multiply-adds"},
          {"blocked product, CPU threads", "matmul/cpu:blocked @cpu:threads", "vector instructions"},
          {"simple product, GPU", "matmul/*:simple @*:?", "groups of 32 x 8 items instead of one; fused multiply-adds"},
          {"blocked product, GPU", "matmul/*:blocked16 @*", "fused multiply-adds"}};
}

std::vector<method> sorts() {
  return {{"merge sort, CPU", "sort/cpu:merge @cpu:serial"},
          {"merge sort, CPU threads", "sort/cpu:merge @cpu:threads"},
          {"merge sort, GPU", "sort/*:merge_rank @*"},
          {"the standard library's sort", "sort/cpu:std @*"}};
}

experiment product() {
  return {.algorithm = "matmul",
          .document = record::blocks_document,
          .baseline = "matmul/cpu:simple",
          .type = dtype::f32,
          .sizes = {{{256, 256, 256}, ""},
                    {{512, 512, 512}, ""},
                    {{1024, 1024, 1024}, ""},
                    {{512, 128, 256}, ""},
                    {{1000, 300, 200}, ""}},
          .methods = products()};
}

experiment sorting() {
  return {.algorithm = "sort",
          .document = record::blocks_document,
          .baseline = "sort/cpu:merge",
          .type = dtype::i32,
          .sizes = {{{10}, ""}, {{32}, ""}, {{1000}, ""}, {{50000}, ""}},
          .methods = sorts()};
}

call::host_operands ascending(const registry::problem& p) {
  return {operand_of<std::int32_t>(p.n(), [](std::uint64_t i) { return i; })};
}
call::host_operands descending(const registry::problem& p) {
  return {operand_of<std::int32_t>(p.n(), [&](std::uint64_t i) { return p.n() - 1 - i; })};
}

experiment sorting_of(call::host_operands (*inputs)(const registry::problem&), std::string_view data) {
  experiment e = sorting();
  e.inputs = inputs;
  e.data = data;
  return e;
}

}  // namespace

std::vector<experiment> blocks_and_merge() {
  return {product(), sorting(), sorting_of(ascending, "sorted"), sorting_of(descending, "reversed")};
}

}  // namespace tilewise::lab::seeds
