// SPDX-License-Identifier: Apache-2.0
// Matrices on the host that a device multiplies by a vector some rows at a time.
#pragma once

#include "registry/pieces.hpp"

namespace tilewise::impl::matvec {

extern const registry::division division;

}  // namespace tilewise::impl::matvec
