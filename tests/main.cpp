// SPDX-License-Identifier: Apache-2.0
// The only test program. With --write-golden it does not test, but records missing golden digests (golden.hpp). With
// --soak it runs random cases (soak.hpp).
#include "bits/bits_test.hpp"
#include "bits/golden.hpp"
#include "bits/soak.hpp"

#include <cstring>
#include <iostream>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    if (argc > 1 && std::strcmp(argv[1], "--write-golden") == 0) {
      tilewise::tests::write_golden();
      return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "--soak") == 0) return tilewise::tests::soak({argv + 2, argv + argc});
    tilewise::tests::register_bits_tests();
  } catch (const std::exception& e) {
    std::cerr << "tilewise-tests: " << e.what() << "\n";
    return 1;
  }
  const int failed = RUN_ALL_TESTS();
  tilewise::tests::print_bits_tally();
  if (failed == 0 && testing::UnitTest::GetInstance()->successful_test_count() == 0)
    std::cout << "skipped: nothing of this can be tried here\n";
  return failed;
}
