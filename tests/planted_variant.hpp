// SPDX-License-Identifier: Apache-2.0
// A variant with a fault in it, for tests of what happens then.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::tests {

inline registry::variant planted_variant(std::string_view algorithm, std::string_view name,
                                         decltype(registry::variant::run) run) {
  return {.algorithm = algorithm,
          .backend = "cpu",
          .name = name,
          .types = all_dtypes,
          .source = "a fault planted by a test",
          .unsupported = [](const registry::problem&, const backend::device&,
                            const registry::tuning&) { return std::string(); },
          .run = run};
}

/// Peers are measured but never chosen, so a planted one disturbs no other test of its program.
inline registry::variant planted_peer(std::string_view algorithm, std::string_view name,
                                      decltype(registry::variant::run) run) {
  registry::variant planted = planted_variant(algorithm, name, run);
  planted.peer = true;
  return planted;
}

}  // namespace tilewise::tests
