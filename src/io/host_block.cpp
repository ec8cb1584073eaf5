// SPDX-License-Identifier: Apache-2.0
#include "io/host_block.hpp"

#include "base/huge_pages.hpp"

#include <new>

namespace tilewise::io {

host_block::host_block(std::uint64_t bytes) : memory_(bytes == 0 ? nullptr : base::allocate(bytes)), bytes_(bytes) {
  if (memory_ == nullptr && bytes != 0) throw std::bad_alloc();
}

}  // namespace tilewise::io
