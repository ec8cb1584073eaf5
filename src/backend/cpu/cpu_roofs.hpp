// SPDX-License-Identifier: Apache-2.0
// What roofs.hpp asks of a backend.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend::cpu {

double multiply_then_add(backend::queue& on, dtype type);
double read(backend::queue& on, memory what);
std::uint64_t least_read(const device_info& on);

}  // namespace tilewise::backend::cpu
