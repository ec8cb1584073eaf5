// SPDX-License-Identifier: Apache-2.0
// Tests the parts of an installed copy that are loaded at run time: a diffusion step has the same result on every
// device, and a caller can catch an error of the library. Prints the devices' names, then why each device that was
// named is missing.
#include <tilewise/tilewise.hpp>

#include <iostream>

namespace tw = tilewise;

int main(int count, char** wanted) {
  constexpr tw::diffusion problem{.rows = 30, .columns = 20, .steps = 3};
  const std::vector<float> field(problem.rows * problem.columns);
  const auto after = [&](const tw::device& on) {
    std::vector<float> result(field.size());
    tw::diffuse(field, result, problem, {.device = on});
    return result;
  };
  const std::vector<float> expected = after(tw::open("cpu:serial"));
  for (const tw::device& device : tw::devices()) {
    if (after(device) != expected) return 1;
    std::cout << device.name() << "\n";
  }
  for (int i = 1; i < count; ++i) try {
      tw::open(wanted[i]);
      return 1;
    } catch (const tw::error& missing) {
      if (missing.code() != tw::errc::device_lost) return 1;
      std::cout << missing.what() << "\n";
    }
}
