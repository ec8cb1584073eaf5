// SPDX-License-Identifier: Apache-2.0
// The digests that `verify` printed on named machines, from results/digests.txt, which is built into the tool.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::cli {

struct recorded_digest {
  std::string digest;
  std::vector<std::string> machines;  // the machines that printed it: "an NVIDIA H200"
};

/// None for an algorithm whose digest is not recorded.
std::optional<recorded_digest> recorded_digest_of(std::string_view algorithm);

/// A digest that was printed here, and the recorded one.
struct compared_digest {
  std::string algorithm, here;
  std::optional<recorded_digest> recorded = {};

  bool differs() const { return recorded && recorded->digest != here; }
};

/// The last sentence of `verify`: which machines have the same digests, or, if one differs, where, with a request to
/// report it. `processor` computed them here. Empty if no machine printed all of them.
std::string sentence_on(std::span<const compared_digest> all, const std::string& processor);

}  // namespace tilewise::cli
