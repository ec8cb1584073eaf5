// SPDX-License-Identifier: Apache-2.0
// The list of all algorithms and variants. cmake/algorithm.cmake writes it as catalog.gen.cpp from the one-line
// declarations in the algorithms' folders. It names each one, so the linker cannot drop any.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::registry {

std::span<const algorithm* const> algorithms();

/// All variants of all algorithms: the library's own, then the peers that `add_peers` has added.
const std::vector<variant>& variants();
/// The algorithm's variants in the catalog's order; valid until peers are added.
const std::vector<const variant*>& variants_of(const algorithm& what);

/// Adds other libraries' implementations, which the lab provides. Throws if an id exists already.
void add_peers(std::span<const variant> peers);

/// Throw `invalid_argument`, with similar names, if there is none.
const algorithm& find_algorithm(std::string_view name);
const variant& find_variant(std::string_view id);

/// The variant that defines the algorithm: <algorithm>/serial.
const variant& reference_of(const algorithm& what);

/// base::nearest for variants. It proposes ids, labels or names, whichever form `wanted` has. A name that several
/// backends share is shown with its backend.
std::string nearest_variant(std::string_view wanted, std::span<const variant* const> among);

}  // namespace tilewise::registry
