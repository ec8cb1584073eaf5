// SPDX-License-Identifier: Apache-2.0
// A faulty variant, for tests of how its fault is handled.
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

/// A planted peer. Peers are measured but never chosen, so it does not affect other tests of the program.
inline registry::variant planted_peer(std::string_view algorithm, std::string_view name,
                                      decltype(registry::variant::run) run) {
  registry::variant planted = planted_variant(algorithm, name, run);
  planted.peer = true;
  return planted;
}

}  // namespace tilewise::tests
