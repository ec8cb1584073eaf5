// SPDX-License-Identifier: Apache-2.0
#include <tilewise/tilewise.hpp>

#include <iostream>

namespace tw = tilewise;

int main() {
  std::vector<float> x{1e8f, 1.0f, -1e8f, 1.0f, 3.0f};

  float total = tw::reduce(x);  // on the CPU
  std::vector<float> y(x.size());
  tw::inclusive_scan(x, y);  // y[i] == tw::reduce(x[0..i]), bit for bit

  tw::device best = tw::open("auto");  // a GPU if there is one; tw::devices() lists all
  tw::array<float> on_device = best.upload(x);
  tw::array<float> scanned = tw::inclusive_scan(on_device);  // stays there
  bool same = scanned.download() == y && tw::reduce(on_device) == total;

  std::cout << best.name() << (same ? " returns" : " does not return") << " the bits of the CPU: " << total << "\n";
  return same ? 0 : 1;
}
