// Blocked matrix product and merge sort in OpenCL. Random inputs; the document's times are in plots only. Of its
// sorts, the text names only the smallest sizes and the largest.
#include "lab/seeds/seeds.hpp"

namespace tilewise::lab::seeds {

std::vector<experiment> blocks_and_merge() {
  constexpr std::string_view document = "A. Malinovsky, Laboratory 4: algorithms for GPGPU, 2025";
  return {{.algorithm = "matmul",
           .document = document,
           .baseline = "matmul/serial",
           .type = dtype::f32,
           .sizes = {{{256, 256, 256}, ""}, {{512, 512, 512}, ""}, {{1024, 1024, 1024}, ""}}},
          {.algorithm = "sort",
           .document = document,
           .baseline = "sort/cpu:merge",
           .type = dtype::i32,
           .sizes = {{{10}, ""}, {{32}, ""}, {{50000}, ""}}}};
}

}  // namespace tilewise::lab::seeds
