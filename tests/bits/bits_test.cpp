// SPDX-License-Identifier: Apache-2.0
// Every variant gives the definition's bits on every device of this machine.
#include "bits_test.hpp"

#include "catalog_sweep.hpp"
#include "helpers.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

constexpr int failures_shown = 5;

struct tally {
  std::uint64_t cases = 0, skipped = 0, differences = 0;
};
std::map<std::string, tally>& tallies() {
  static std::map<std::string, tally> by_backend;
  return by_backend;
}

/// A GoogleTest filter for the target. Its patterns are separated by colons, so a question mark stands for each colon
/// of the name.
std::string filter_of(const sweep_target& target) {
  std::string text = "Bits/" + target.variant.id() + "." + target.device;
  for (char& c : text)
    if (c == ':') c = '?';
  return text;
}

class bits_test : public ::testing::Test {
 public:
  explicit bits_test(const sweep_target& target) : target_(target) {}

  void TestBody() override {
    const char* only = std::getenv("TILEWISE_TEST_CASE");
    const std::vector<sweep_case> cases = sweep_cases(target_, test_cover());
    std::map<std::string, std::uint64_t> reasons;
    int failures = 0;
    for (std::size_t i = 0; i < cases.size() && failures < failures_shown; ++i) {
      if (only != nullptr && std::strtoull(only, nullptr, 10) != i) continue;
      if (const std::string why = runner_.unsupported(cases[i]); !why.empty())
        ++reasons[why];
      else if (!passes(cases[i], i))
        ++failures;
    }
    for (const auto& [why, times] : reasons) std::cout << "  " << times << " cases are not supported: " << why << "\n";
  }

 private:
  bool passes(const sweep_case& c, std::size_t index) {
    tally& total = tallies()[std::string(target_.variant.device_backend())];
    ++total.cases;
    std::string wrong;
    try {
      wrong = runner_.run(c);
    } catch (const std::exception& e) {
      wrong = std::string("threw: ") + e.what();
    }
    if (wrong.empty()) return true;
    ++total.differences;
    ADD_FAILURE() << to_string(c, target_) << "\n  " << wrong
                  << "\n  repeat, with the same TILEWISE_TEST_COVER: TILEWISE_TEST_CASE=" << index
                  << " tilewise-tests --gtest_filter='" << filter_of(target_) << "'";
    return false;
  }

  sweep_target target_;
  sweep_runner runner_{target_};
};

}  // namespace

void register_bits_tests() {
  for (const sweep_target& t : sweep_targets())
    ::testing::RegisterTest(("Bits/" + t.variant.id()).c_str(), t.device.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [t]() -> ::testing::Test* { return new bits_test(t); });
}

void print_bits_tally() {
  for (const auto& [backend, total] : tallies())
    std::cout << "Bits on " << backend << ": " << total.cases << " cases, " << total.differences << " differences\n";
}

}  // namespace tilewise::tests
