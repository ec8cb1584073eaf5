// SPDX-License-Identifier: Apache-2.0
// A list of the element types, for explicit instantiation at the end of a file.
#pragma once

#include <cstdint>

#define TILEWISE_FOR_EACH_TYPE(INSTANTIATE) \
  INSTANTIATE(float)                        \
  INSTANTIATE(double)                       \
  INSTANTIATE(std::int32_t)                 \
  INSTANTIATE(std::int64_t)                 \
  INSTANTIATE(std::uint32_t)                \
  INSTANTIATE(std::uint64_t)
