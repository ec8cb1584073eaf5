// SPDX-License-Identifier: Apache-2.0
// What the OpenCL variants of convolve share.
#pragma once

#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "convolve/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

/// The work-group of all these variants.
inline constexpr backend::opencl::group_shape tile_group{32, 8};

/// The preprocessor definitions of programs whose work-items compute `rows` rows of 16 bytes of results.
std::string definitions_of(const registry::problem& p, unsigned rows);

/// Where `m` begins in its buffer, in elements.
std::uint64_t first_of(const backend::memory& m, const registry::problem& p);

/// Why the mask cannot be in constant memory; empty if it can.
std::string not_constant(const registry::problem& p);

/// The mask as a __constant argument. OpenCL limits the size of the whole cl_mem to that of constant memory, so a mask
/// that is part of a larger cl_mem is copied.
class constant_mask {
 public:
  constant_mask(backend::opencl::queue& q, const backend::memory& mask);
  const backend::memory& where() const { return where_; }

 private:
  backend::buffer copy_;
  backend::memory where_;
};

}  // namespace tilewise::impl::convolve
