// The prefix sum of floats with OpenCL. Its sweep over the local work size and the two ways to add the carry is
// `tilewise bench 'scan/opencl:blelloch' --preset seeds --tuning all`.
#include "lab/seeds/seeds.hpp"

namespace tilewise::lab::seeds {

namespace {

constexpr registry::extents whole{67108865};
constexpr std::array<std::string_view, 2> blelloch{"scan/*:blelloch @*", ""};
constexpr std::string_view fastest = "the fastest of its devices, not named; local size 64";

}  // namespace

std::vector<experiment> prefix_sum() {
  return {{.algorithm = "scan",
           .document = "Y. Fayzieva, Laboratory 2: prefix sum",
           .baseline = "scan/serial",
           .type = dtype::f32,
           .sizes = {{whole, ""}},
           .figures = {{whole, "work-efficient scan", blelloch, 4.40164e6, false, fastest},
                       {whole, "work-efficient scan", blelloch, 68.5949e6, true, fastest}}}};
}

}  // namespace tilewise::lab::seeds
