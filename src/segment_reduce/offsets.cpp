// SPDX-License-Identifier: Apache-2.0
#include "segment_reduce/problem.hpp"

namespace tilewise::impl::segment_reduce {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw error(errc::invalid_argument, what); }

}  // namespace

void require_segments(const registry::problem& p, std::span<const std::int64_t> offsets) {
  if (offsets.front() != 0)
    refuse("the first offset is " + std::to_string(offsets.front()) + "; the first segment begins at 0");
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    if (offsets[s + 1] < offsets[s])
      refuse("the offsets fall from " + std::to_string(offsets[s]) + " to " + std::to_string(offsets[s + 1]) +
             " at position " + std::to_string(s + 1) + "; segment s is x[offsets[s]:offsets[s + 1]]");
    if (offsets[s + 1] == offsets[s] && !may_be_empty(p))
      refuse("segment " + std::to_string(s) + " is empty, and the " + std::string(name_of(operation_of(p))) +
             " of no elements has no value; give an initial value");
  }
  if (static_cast<std::uint64_t>(offsets.back()) != p.n())
    refuse("the last offset is " + std::to_string(offsets.back()) + ", but there are " + std::to_string(p.n()) +
           " elements; the last segment ends with the last element");
}

void require_segments_on(const registry::problem& p, const backend::memory& offsets, backend::queue& queue) {
  std::vector<std::int64_t> here(segments_of(p) + 1);
  queue.download(here.data(), offsets, here.size() * sizeof here[0]);
  require_segments(p, here);
}

void refuse_offsets(const registry::problem& p, const backend::memory& offsets, backend::queue& queue) {
  require_segments_on(p, offsets, queue);
  refuse("the offsets changed while they were read; leave them alone until the call returns");
}

}  // namespace tilewise::impl::segment_reduce
