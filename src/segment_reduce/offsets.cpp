// SPDX-License-Identifier: Apache-2.0
#include "segment_reduce/offsets.hpp"

#include "base/split_mix.hpp"
#include "call/call.hpp"

#include <algorithm>

namespace tilewise::impl::segment_reduce {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw error(errc::invalid_argument, what); }

std::string has_no_value(const segmentation& of) {
  return "the " + std::string(of.no_value) + " of no elements has no value; give an initial value";
}

}  // namespace

segmentation described(const detail::request& r) {
  const detail::argument& offsets = r.in.back();
  if (offsets.type != dtype::i64) refuse("the offsets are " + std::string(name_of(offsets.type)) + "; pass i64");
  if (offsets.size == 0) refuse("there are no offsets; for no segments pass one, which is 0");
  return {r.in[0].size, offsets.size - 1, {}};
}

std::string impossible(const segmentation& of) {
  if (of.segments == 0 && of.elements != 0)
    return "there are " + std::to_string(of.elements) + " elements and no segments; pass the offsets 0, ..., " +
           std::to_string(of.elements);
  if (of.segments > of.elements && !of.no_value.empty())
    return "of " + std::to_string(of.segments) + " segments of " + std::to_string(of.elements) +
           " elements some are empty, and " + has_no_value(of);
  return "";
}

void require_segments(const segmentation& of, std::span<const std::int64_t> offsets) {
  if (offsets.front() != 0)
    refuse("the first offset is " + std::to_string(offsets.front()) + "; the first segment begins at 0");
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    if (offsets[s + 1] < offsets[s])
      refuse("the offsets fall from " + std::to_string(offsets[s]) + " to " + std::to_string(offsets[s + 1]) +
             " at position " + std::to_string(s + 1) + "; segment s is x[offsets[s]:offsets[s + 1]]");
    if (offsets[s + 1] == offsets[s] && !of.no_value.empty())
      refuse("segment " + std::to_string(s) + " is empty, and " + has_no_value(of));
  }
  if (static_cast<std::uint64_t>(offsets.back()) != of.elements)
    refuse("the last offset is " + std::to_string(offsets.back()) + ", but there are " + std::to_string(of.elements) +
           " elements; the last segment ends with the last element");
}

void require_segments_on(const segmentation& of, const backend::memory& offsets, backend::queue& queue) {
  std::vector<std::int64_t> here(of.segments + 1);
  queue.download(here.data(), offsets, here.size() * sizeof here[0]);
  require_segments(of, here);
}

void refuse_offsets(const segmentation& of, const backend::memory& offsets, backend::queue& queue) {
  require_segments_on(of, offsets, queue);
  refuse("the offsets changed while they were read; leave them alone until the call returns");
}

void fit_offsets(const segmentation& of, std::span<std::byte> generated) {
  const std::uint64_t n = of.elements, m = of.segments;
  auto* const offsets = reinterpret_cast<std::int64_t*>(generated.data());
  for (std::uint64_t s = 0; s <= m; ++s) {
    const std::uint64_t at = base::mix(static_cast<std::uint64_t>(offsets[s]) + base::golden_gamma * s);
    const double share = static_cast<double>(at >> 11) * 0x1p-53, cubed = share * share * share;
    const double cut = static_cast<double>(n) * (at % 4 < 2 ? share : cubed);
    offsets[s] = at % 4 == 3 && s != 0 ? offsets[s - 1] : static_cast<std::int64_t>(cut);
  }
  std::sort(offsets, offsets + m + 1);
  offsets[0] = 0;
  offsets[m] = static_cast<std::int64_t>(n);
  if (of.no_value.empty()) return;
  for (std::uint64_t s = 1; s < m; ++s) offsets[s] = std::max(offsets[s], offsets[s - 1] + 1);
  for (std::uint64_t s = m; s-- > 1;) offsets[s] = std::min(offsets[s], offsets[s + 1] - 1);
}

}  // namespace tilewise::impl::segment_reduce
