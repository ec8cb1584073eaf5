// SPDX-License-Identifier: Apache-2.0
// Everything that exists, listed explicitly: catalog.gen.cpp is written by cmake/algorithm.cmake from the one-line
// declarations in the algorithms' folders, and calls each by name, so that no linker can drop one.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::registry {

std::span<const algorithm* const> algorithms();

/// All variants of all algorithms, the library's own first. Peers follow once `add_peers` has been called.
const std::vector<variant>& variants();
/// In the catalog's order; valid until peers are added.
const std::vector<const variant*>& variants_of(const algorithm& what);

/// Adds the lab's peers, which live outside the library. Throws on an id that is there already.
void add_peers(std::span<const variant> peers);

/// Throws `invalid_argument`, naming the nearest ones.
const algorithm& find_algorithm(std::string_view name);
const variant& find_variant(std::string_view id);

/// The definition: <algorithm>/serial.
const variant& reference_of(const algorithm& what);

/// base::nearest for variants, in the form that `wanted` has: ids, labels or names; a name that several backends have
/// is shown with its backend.
std::string nearest_variant(std::string_view wanted, std::span<const variant* const> among);

}  // namespace tilewise::registry
