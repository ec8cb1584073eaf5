// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/documents.hpp"

#include "tool/diffuse/experiment.hpp"

namespace tilewise::cli {

std::span<const lab::experiment> documents() {
  static const std::vector<lab::experiment> all = [] {
    std::vector<lab::experiment> list(lab::experiments().begin(), lab::experiments().end());
    list.push_back(hiperc::experiment());
    return list;
  }();
  return all;
}

}  // namespace tilewise::cli
