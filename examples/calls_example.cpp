// SPDX-License-Identifier: Apache-2.0
// One call of each function, as docs/library.md lists them.
#include <tilewise/tilewise.hpp>

#include <iostream>

namespace tw = tilewise;

int main() {
  std::vector<float> x{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, y(x.size()), columns = x;
  const std::vector<std::int32_t> a{1, 2, 3}, b{4, 5, 6};
  std::vector<std::int64_t> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

  float sum = tw::reduce(x), most = tw::reduce(x, {.op = tw::op::max}), more = tw::reduce(x, {.init = 5.0f});
  tw::inclusive_scan(x, y);
  tw::exclusive_scan(y, y, {.init = 0});
  auto rows = tw::reduce(tw::along(x, {3, 4}, tw::axis::rows));
  auto running = tw::inclusive_scan(tw::along(x, {3, 4}, tw::axis::columns));
  tw::sort(tw::along(columns, {3, 4}, tw::axis::columns));
  auto order = tw::argsort(x);
  auto descending = tw::sorted(x, {.order = tw::sort_order::descending});
  auto product = tw::matmul(x, {3, 4}, x, {4, 3});
  auto image = tw::convolve(x, {3, 4}, std::vector<float>(9, 1), {3, 3});
  auto field = tw::diffuse(x, {.rows = 3, .columns = 4, .steps = 2});
  auto times_vector = tw::matvec(a, {1, 3}, b);
  auto exact = tw::polymul(a, b), below_7 = tw::polymul(a, b, {.modulus = 7});
  std::int32_t dotted = tw::dot(a, b);
  tw::sort_by_key(x, values);

  const bool right = sum == 52 && most == 9 && more == 57 && y[11] == 236 && rows[0] == 9 && running[11] == 15 &&
                     columns[0] == 3 && order[0] == 1 && descending[0] == 9 && product.size() == 9 && image[0] == 37 &&
                     field.size() == 12 && times_vector[0] == 32 && exact[2] == 28 && below_7[2] == 0 && dotted == 32 &&
                     values[0] == 1;
  std::cout << (right ? "all calls return what they should\n" : "a call returns something else\n");
  return right ? 0 : 1;
}
