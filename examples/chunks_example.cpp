// SPDX-License-Identifier: Apache-2.0
#include <tilewise/tilewise.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>

namespace tw = tilewise;

void write(std::ofstream& to, const std::vector<float>& values) {
  to.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}

/// Up to `most` floats; fewer at the end of the file.
std::vector<float> read(std::ifstream& from, std::size_t most) {
  std::vector<float> values(most);
  from.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(most * sizeof(float)));
  values.resize(static_cast<std::size_t>(from.gcount()) / sizeof(float));
  return values;
}

int main() {
  std::vector<float> x(1'000'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  {
    std::ofstream file("chunks_example.in", std::ios::binary);
    write(file, x);
  }

  std::ifstream in("chunks_example.in", std::ios::binary);
  std::ofstream out("chunks_example.out", std::ios::binary);
  tw::partial<float> sum;  // of all that was read so far
  for (auto chunk = read(in, 12'345); !chunk.empty(); chunk = read(in, 12'345)) {
    tw::inclusive_scan(chunk, chunk, {.carry = &sum});  // continues the running sums, and appends the chunk to `sum`
    write(out, chunk);
  }
  out.close();

  std::ifstream result("chunks_example.out", std::ios::binary);
  bool same = read(result, x.size()) == tw::inclusive_scan(x) && sum.value() == tw::reduce(x);
  std::cout << "chunk by chunk the bits are" << (same ? "" : " not") << " those of one call: " << sum.value() << "\n";
  std::remove("chunks_example.in");
  std::remove("chunks_example.out");
  return same ? 0 : 1;
}
