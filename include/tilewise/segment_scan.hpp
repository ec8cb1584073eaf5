// SPDX-License-Identifier: Apache-2.0
// The scan of each segment of an array, in the pairwise order.
#pragma once

#include <tilewise/scan.hpp>
#include <tilewise/segment_reduce.hpp>

namespace tilewise {

/// What `segment_scan` computes, where and how.
struct segment_scan_options {
  tilewise::op op = tilewise::op::sum;          ///< the operator that combines the elements
  bool exclusive = false;                       ///< whether each result leaves out the element at its position
  number init = {};                             ///< the first operand in each segment, if given
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "cpu"; default: chosen
  std::string_view tuning = {};                 ///< such as "tile=8192"; never changes a bit
};

namespace detail {

inline void segment_scan(const argument& x, const argument& offsets, const argument& y,
                         const segment_scan_options& options) {
  const argument in[]{x, offsets};
  const setting settings[]{{"op", static_cast<unsigned>(options.op)}, {"kind", options.exclusive ? 1u : 0u}};
  const named_number numbers[]{{"init", options.init}};
  call({.algorithm = "segment_scan", .in = in, .out = {&y, 1}, .settings = settings, .numbers = numbers}, options);
}

}  // namespace detail

/// y[offsets[s] .. offsets[s + 1]) = inclusive_scan(x[offsets[s] .. offsets[s + 1])), with the bits of that segment
/// scanned alone; with `exclusive`, exclusive_scan. `offsets` are those of `segment_reduce`; others are
/// `invalid_argument`, which names the place. Segments may be empty. `y` has the size of `x`, and is either `x` itself
/// or shares no memory with the others. Throws before it writes anything; on a device it waits until the offsets have
/// been checked.
template <plain_operand In, offsets_beside<In> Offsets, output_beside<In> Out>
void segment_scan(const In& x, const Offsets& offsets, Out&& y, const segment_scan_options& options = {}) {
  detail::segment_scan(detail::argument_for("the input", x), detail::offsets_argument(offsets),
                       detail::argument_for("the output", y), options);
}
/// Returns the results.
template <plain_operand In, offsets_beside<In> Offsets>
auto segment_scan(const In& x, const Offsets& offsets, const segment_scan_options& options = {}) {
  auto y = detail::result_like(x);
  tilewise::segment_scan(x, offsets, y, options);
  return y;
}

template <class In, class Offsets, class... More>
requires(plain_operand<In>&& operand<Offsets> && (!offsets_beside<Offsets, In>))  //
    detail::refused segment_scan(const In&, const Offsets&, const More&...) {
  static_assert(sizeof(Offsets) == 0,
                "offsets are integers of 64 bits, on the host or on a device as the input is: convert or upload them");
  return {};
}
template <class In, class Offsets, class Out>
requires(offsets_beside<Offsets, In>&& detail::is_data<std::remove_cvref_t<Out>> && (!output_beside<Out, In>))  //
    detail::refused segment_scan(const In&, const Offsets&, Out&&, const segment_scan_options& = {}) {
  static_assert(sizeof(Offsets) == 0,
                "the output is const or temporary, or has another type or lies elsewhere than the input");
  return {};
}
TILEWISE_REFUSE_OTHERS(segment_scan)

}  // namespace tilewise
