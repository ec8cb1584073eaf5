// SPDX-License-Identifier: Apache-2.0
#include <tilewise/tilewise.hpp>

#include <iostream>

#include <sys/wait.h>
#include <unistd.h>

namespace tw = tilewise;

int main() {
  std::vector<double> x(1'000'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1);
  const std::size_t middle = 123'457;  // any position will do

  int channel[2];
  if (pipe(channel) != 0) return 1;
  if (fork() == 0) {  // the second process has the elements from `middle` on
    tw::partial<double> right(tw::op::sum, middle);
    right.push(std::span(x).subspan(middle));
    return write(channel[1], &right, sizeof right) == sizeof right ? 0 : 1;
  }
  close(channel[1]);

  tw::partial<double> left, right;
  left.push(std::span(x).first(middle));
  if (read(channel[0], &right, sizeof right) != sizeof right) return 1;
  wait(nullptr);
  left.merge(right);

  bool same = left.value() == tw::reduce(x);
  std::cout << "two processes have" << (same ? "" : " not") << " the bits of one: " << left.value() << "\n";
  return same ? 0 : 1;
}
