// SPDX-License-Identifier: Apache-2.0
// Arrays on the host that are too large for a device: it sorts runs, and the CPU merges them.
#pragma once

#include "registry/pieces.hpp"

namespace tilewise::impl::sort {

extern const registry::division division;

}  // namespace tilewise::impl::sort
