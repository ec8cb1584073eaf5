// SPDX-License-Identifier: Apache-2.0
// A queue for each worker of a queue, so that code that takes a queue can work on one piece while other workers do so
// on theirs.
#pragma once

#include "backend/cpu/device.hpp"

#include <optional>

namespace tilewise::backend::cpu {

class own_queues {
 public:
  explicit own_queues(queue& of) : all_(of.threads()) {
    for (auto& own : all_) own.emplace(of.device(), make_executor("serial", 1), 1, of.level());
  }
  queue& of(unsigned worker) { return *all_[worker]; }

 private:
  std::vector<std::optional<queue>> all_;
};

}  // namespace tilewise::backend::cpu
