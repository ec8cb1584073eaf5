#include <cmath>
#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

TEST(Smoke, InclusiveScanIsTheReductionOfEachPrefix) {
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i)
    x.push_back(static_cast<float>(i % 7 - 3) * std::pow(10.0f, static_cast<float>(i % 9)));
  std::vector<float> y(x.size());
  tilewise::inclusive_scan(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], tilewise::reduce(std::span<const float>(x.data(), i + 1)));
}
