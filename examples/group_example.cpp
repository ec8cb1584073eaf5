// SPDX-License-Identifier: Apache-2.0
#include <tilewise/tilewise.hpp>

#include <iostream>

namespace tw = tilewise;

// Two ranks in one process. On a machine with two GPUs write "cuda:0+cuda:1", or "cuda:*" for all of them.
int main() {
  tw::device both = tw::open("2*cpu:serial");
  std::vector<double> left(123'457), right(876'543);  // each rank's part, of any length
  double number = 0;
  for (auto* part : {&left, &right})
    for (double& x : *part) x = 1 / ++number;

  std::vector<std::span<const double>> parts{left, right};
  tw::array<double> sums = tw::inclusive_scan(tw::upload_parts<double>(both, parts));
  std::vector<std::vector<double>> results = tw::download_parts(sums);  // they lie as the input lies

  left.insert(left.end(), right.begin(), right.end());
  bool same = results[1].back() == tw::reduce(left) && results[0].size() == parts[0].size();
  std::cout << "two ranks have" << (same ? "" : " not") << " the bits of one: " << results[1].back() << "\n";
  return same ? 0 : 1;
}
