// SPDX-License-Identifier: Apache-2.0
// What this machine can compute on, and which backends and drivers cannot be used.
#pragma once

#include "backend/backend.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tilewise::cli {

/// A backend without devices, or a driver that was left out.
struct absent {
  std::string name, reason;
};

struct survey {
  std::vector<std::shared_ptr<backend::device>> devices;
  std::vector<absent> backends, drivers;
};

/// Lists all drivers afresh, each in its own process first, and notes for `auto` what they have.
survey look_around();

}  // namespace tilewise::cli
