// SPDX-License-Identifier: Apache-2.0
// Base64: the examples of RFC 4648, and text that is not base64.
#include "io/base64.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tilewise::io {
namespace {

TEST(Base64, TheStandardsExamples) {
  const std::string text = "foobar";
  constexpr std::array<const char*, 7> wanted{"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const std::string coded = base64(std::as_bytes(std::span(text.data(), n)));
    EXPECT_EQ(coded, wanted[n]);
    EXPECT_TRUE(is_base64(coded));
  }
  const std::array<std::byte, 3> high{std::byte{0xfb}, std::byte{0xff}, std::byte{0xbf}};
  EXPECT_EQ(base64(high), "+/+/");
}

TEST(Base64, OtherTextIsRefused) {
  for (const char* text : {"A", "AAA", "====", "A===", "A=AA", "AA=A", "AAA\n", "AAA ", "AAA-", "AAA\"", "AAA\x80"})
    EXPECT_FALSE(is_base64(text)) << text;
  EXPECT_FALSE(is_base64(std::string("AAA\0", 4)));
}

}  // namespace
}  // namespace tilewise::io
