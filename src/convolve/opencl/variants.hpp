// SPDX-License-Identifier: Apache-2.0
// What the OpenCL variants of convolve share.
#pragma once

#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "convolve/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

/// The group of each of them.
inline constexpr backend::opencl::group_shape tile_group{32, 8};

/// What programs are compiled with whose items make `rows` rows of 16 bytes of results.
std::string definitions_of(const registry::problem& p, unsigned rows);

/// In elements.
std::uint64_t first_of(const backend::memory& m, const registry::problem& p);

/// Why the mask cannot be in constant memory; empty if it can.
std::string not_constant(const registry::problem& p);

/// A __constant argument is a cl_mem no larger than constant memory; a mask in a larger one is copied out of it.
class constant_mask {
 public:
  constant_mask(backend::opencl::queue& q, const backend::memory& mask);
  const backend::memory& where() const { return where_; }

 private:
  backend::buffer copy_;
  backend::memory where_;
};

}  // namespace tilewise::impl::convolve
