// SPDX-License-Identifier: Apache-2.0
// The digests of the definition, and of the choice of `auto` on the CPU, equal those in the repository.
#include "golden.hpp"
#include "backend/cpu/device.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

namespace tilewise::tests {

TEST(Golden, ThereAreThousands) { EXPECT_GE(read_golden().size(), 2000u); }

TEST(Golden, TheDefinitionAndTheChosenVariantKeepThem) {
  const auto device = backend::find_device("cpu", {});
  for (const golden_line& line : read_golden()) {
    const lab::verified_case c = lab::make_case(line.problem, line.data, line.seed);
    ASSERT_EQ(c.expected_digest, line.digest) << to_string(line.problem) << " data=" << name_of(line.data)
                                              << " seed=" << line.seed << ": the order has changed";
    const registry::choice how = registry::choose(line.problem, *device);
    ASSERT_EQ(lab::verify(c, how, device->queue()).digest, line.digest)
        << how.variant->id() << " " << to_string(line.problem) << " data=" << name_of(line.data)
        << " seed=" << line.seed;
  }
}

}  // namespace tilewise::tests
