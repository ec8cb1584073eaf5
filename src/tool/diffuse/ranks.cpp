// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/ranks.hpp"

#include "backend/group/device.hpp"

#include <algorithm>

namespace tilewise::hiperc {

using backend::group::over_processes;

bool writes_files(backend::queue& queue) {
  const auto* const all = over_processes(queue);
  return all == nullptr || all->first_rank() == 0;
}

pace common_pace(backend::queue& queue, pace own) {
  auto* const all = over_processes(queue);
  if (all == nullptr) return own;
  pace common = own;
  all->on_each_rank([&](const backend::group::rank& r) {
    const std::vector<pace> paces = r.all_gather(own);
    common.part = paces.front().part;
    common.goes_on = std::all_of(paces.begin(), paces.end(), [](const pace& one) { return one.goes_on; });
  });
  return common;
}

}  // namespace tilewise::hiperc
