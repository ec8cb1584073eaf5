// SPDX-License-Identifier: Apache-2.0
// An operand in a group's memory with arbitrary borders between ranks; a rank's part may be empty, or have all of it.
#pragma once

#include "backend/group/device.hpp"
#include "lab/verify/verify.hpp"
#include "registry/algorithm.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <string>
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

/// Runs a case on a group with arbitrary borders of its operands. Returns what is wrong, or an empty string.
inline std::string run_scattered(const registry::variant& v, const lab::verified_case& c, const registry::tuning& t,
                                 backend::group::queue& q, std::mt19937_64& random) {
  const auto in = c.problem.what->inputs(c.problem), out = c.problem.what->outputs(c.problem);
  std::deque<scattered_operand> operands;
  registry::bindings where;
  for (std::size_t i = 0; i < in.size(); ++i)
    where.in[i] = operands.emplace_back(q, in[i], c.inputs[i], random).memory();
  for (std::size_t o = 0; o < out.size(); ++o)
    where.out[o] =
        operands.emplace_back(q, out[o], std::vector<std::byte>(out[o].bytes(), std::byte{0xa5}), random).memory();
  v.run(c.problem, where, t, q);
  q.finish();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (operands[i].download() != c.inputs[i]) return "changed its input";
  std::vector<std::vector<std::byte>> results;
  for (std::size_t o = 0; o < out.size(); ++o) results.push_back(operands[in.size() + o].download());
  const lab::verdict verdict = lab::compare(c, v, results);
  return verdict.ok ? "" : std::to_string(verdict.mismatches) + " of its values differ";
}

}  // namespace tilewise::tests
