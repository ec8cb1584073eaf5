// SPDX-License-Identifier: Apache-2.0
// What the variants of diffusion on OpenCL share.
#pragma once

#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "diffuse/problem.hpp"

namespace tilewise::impl::diffuse {

/// The definitions that program.cl takes.
inline std::string opencl_definitions(const registry::problem& p) {
  return backend::opencl::definitions_of(p.type, op::sum) + " -DTW_MASK=" + std::string(mask_words[p.setting[0]]);
}

}  // namespace tilewise::impl::diffuse
