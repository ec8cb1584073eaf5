// SPDX-License-Identifier: Apache-2.0
// One call on the calling thread, for a debugger to look at.
#include <tilewise/tilewise.hpp>

namespace tw = tilewise;

int main(int, char** arguments) {
  const std::string_view algorithm = arguments[1];
  const std::vector<float> x(1 << 20, 1.5f);
  std::vector<float> y(x.size());
  const tw::device on = tw::open("cpu:serial");
  if (algorithm == "reduce") y[0] = tw::reduce(x, {.device = on});
  if (algorithm == "scan") tw::inclusive_scan(x, y, {.device = on});
  if (algorithm == "matmul") tw::matmul(x, {1024, 1024}, x, {1024, 1024}, y, {1024, 1024}, {.device = on});
}
