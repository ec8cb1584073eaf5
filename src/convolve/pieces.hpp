// SPDX-License-Identifier: Apache-2.0
// Images on the host that pass through a device in bands of rows.
#pragma once

#include "registry/pieces.hpp"

namespace tilewise::impl::convolve {

extern const registry::division division;

}  // namespace tilewise::impl::convolve
