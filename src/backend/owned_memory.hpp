// SPDX-License-Identifier: Apache-2.0
// What a public array holds.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend {

/// The memory goes back to its queue's pool with the last copy of the pointer and keeps the device open until then.
inline std::shared_ptr<memory> owned(const std::shared_ptr<device>& on, memory what) {
  memory* kept = nullptr;
  try {
    kept = new memory(what);
  } catch (...) {
    on->queue().release(what);
    throw;
  }
  return {kept, [on](memory* m) {
            if (on->is_usable()) on->queue().release(*m);
            delete m;
          }};
}

}  // namespace tilewise::backend
