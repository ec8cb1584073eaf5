// SPDX-License-Identifier: Apache-2.0
// How a call of skeleton is written as a registry::problem (shape {n}, no settings), and its arithmetic.
#pragma once

#include "order/operators.hpp"
#include "registry/algorithm.hpp"

namespace tilewise::impl::skeleton {

const registry::algorithm& skeleton_algorithm();

/// Signed integers wrap. Every output of every algorithm goes through order::canonical.
template <class T>
T negated(T value) {
  return order::canonical(static_cast<T>(-static_cast<order::wrapping_t<T>>(value)));
}

}  // namespace tilewise::impl::skeleton
