// SPDX-License-Identifier: Apache-2.0
// An operand in a group's memory whose borders are anywhere; a part may be empty, or all of it.
#pragma once

#include "backend/group/group_device.hpp"
#include "registry/algorithm.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace tilewise::tests {

class scattered_operand {
 public:
  scattered_operand(backend::group::queue& q, const registry::operand& o, const std::vector<std::byte>& contents,
                    std::mt19937_64& random)
      : queue_(q), bytes_(o.bytes()) {
    std::vector<std::uint64_t> border{0, o.count};
    for (unsigned i = 1; i < q.ranks(); ++i) border.push_back(random() % 4 == 0 ? 0 : random() % (o.count + 1));
    std::sort(border.begin(), border.end());
    for (std::uint64_t& b : border) b *= size_of(o.type);
    memory_ = q.allocate_parts(std::move(border));
    q.upload(memory_, contents.data(), contents.size());
  }
  ~scattered_operand() { queue_.release(memory_); }
  scattered_operand(const scattered_operand&) = delete;

  backend::memory memory() const { return memory_; }
  std::vector<std::byte> download() const {
    std::vector<std::byte> all(bytes_);
    queue_.download(all.data(), memory_, bytes_);
    return all;
  }

 private:
  backend::group::queue& queue_;
  std::uint64_t bytes_;
  backend::memory memory_;
};

}  // namespace tilewise::tests
