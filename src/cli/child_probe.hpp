// Listing and probing through other people's drivers, in a child process with a time limit.
#pragma once

#include "cli/child.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tilewise::cli {

/// What a device's arithmetic is, as its child said.
struct probe_result {
  bool answered = false;
  std::vector<std::string> findings;  // what the order cannot promise there; why there is no answer, if there is none
};
probe_result probe_device(const std::string& name);

/// How a child fares that lists the devices of a backend and nothing else.
struct listing {
  std::string fault;         // what it did instead; empty if all is well
  std::vector<bool> is_cpu;  // of each device, by number
};
listing list_in_child(const std::string& backend,
                      std::span<const std::pair<std::string, std::string>> environment = {});

}  // namespace tilewise::cli
