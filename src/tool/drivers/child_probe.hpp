// SPDX-License-Identifier: Apache-2.0
// Listing and probing through other people's drivers, in a child process with a time limit.
#pragma once

#include "tool/drivers/child.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tilewise::cli {

/// What a device's arithmetic is like, as its child reported.
struct probe_result {
  bool answered = false;
  std::vector<std::string> findings;  // what the order cannot promise there, or why there is no answer
};
probe_result probe_device(const std::string& name);

/// What happened in a child that only lists the devices of a backend.
struct listing {
  std::string fault;         // what went wrong; empty if all is well
  std::vector<bool> is_cpu;  // for each device, by number
};
listing list_in_child(const std::string& backend,
                      std::span<const std::pair<std::string, std::string>> environment = {});

}  // namespace tilewise::cli
