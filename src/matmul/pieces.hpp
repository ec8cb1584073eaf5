// SPDX-License-Identifier: Apache-2.0
// Matrices on the host that a device multiplies piece by piece, whatever their shape.
#pragma once

#include "registry/pieces.hpp"

namespace tilewise::impl::matmul {

extern const registry::division division;

}  // namespace tilewise::impl::matmul
