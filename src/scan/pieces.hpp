// SPDX-License-Identifier: Apache-2.0
// Arrays on the host that a device scans piece by piece.
#pragma once

#include "registry/pieces.hpp"

namespace tilewise::impl::scan {

extern const registry::division division;

}  // namespace tilewise::impl::scan
