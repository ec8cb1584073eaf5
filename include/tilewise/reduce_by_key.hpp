// SPDX-License-Identifier: Apache-2.0
// Runs of equal keys, and the reduction of the elements that belong to each.
#pragma once

#include <tilewise/segment_reduce.hpp>

#include <algorithm>
#include <utility>

namespace tilewise {

/// Runs of equal keys, in arrays where the keys were.
template <class Keys, class Offsets>
struct key_runs {
  Keys keys;        ///< of each run
  Offsets offsets;  ///< where each run begins, and at last where the last one ends
};

/// The same, with the value of each run.
template <class Keys, class Values, class Offsets>
struct reduced_runs {
  Keys keys;        ///< of each run
  Values values;    ///< of each run, `reduce` of its elements
  Offsets offsets;  ///< where each run begins, and at last where the last one ends
};

template <class Keys, class Offsets>
key_runs(Keys, Offsets) -> key_runs<Keys, Offsets>;
template <class Keys, class Values, class Offsets>
reduced_runs(Keys, Values, Offsets) -> reduced_runs<Keys, Values, Offsets>;

namespace detail {

/// Finds the first runs of the keys, as many as there is room for, and counts all. With room for one more begin; places
/// beyond the last run have the key 0, and the number of keys for a begin.
inline void runs(const argument& keys, const argument& count, const argument& run_keys, const argument& offsets,
                 const placement& where) {
  const argument out[]{count, run_keys, offsets};
  call({.algorithm = "runs", .in = {&keys, 1}, .out = out}, where);
}

/// How much room is tried at first. On a device one pass over the keys costs more than room that is not used.
inline std::uint64_t first_room(std::uint64_t keys, bool on_device) {
  return on_device ? std::min(keys, keys / 8 + 1024) : 0;
}

template <class In>
auto runs_in(const In& keys, std::int64_t& count, std::uint64_t room, const placement& where) {
  key_runs found{result_beside<element_of<In>>(keys, room), result_beside<std::int64_t>(keys, room + 1)};
  const argument here{.name = "the count", .type = dtype::i64, .size = 1, .host = &count};
  runs(argument_for("the keys", keys), here, argument_for("the keys of runs", found.keys),
       argument_for("the offsets", found.offsets), where);
  return found;
}
template <class T>
void shorten(std::vector<T>& to, std::uint64_t count) {
  to.resize(count);
}
template <class T>
void shorten(array<T>& to, std::uint64_t count) {
  to = std::move(to).first(count);
}

}  // namespace detail

/// The runs of equal keys in a row. Keys are equal if their bits are, as in the order of `sort`: NaN equals itself, and
/// -0.0 is another key than +0.0. So the runs of sorted keys are all there is of each key. On a device it waits until
/// the runs have been counted.
template <plain_operand In>
auto runs(const In& keys, const placement& where = {}) {
  const std::uint64_t room = detail::first_room(detail::argument_for("the keys", keys).size, detail::is_array<In>);
  std::int64_t count = 0;
  auto found = detail::runs_in(keys, count, room, where);
  const auto all = static_cast<std::uint64_t>(count);
  if (all > room) return detail::runs_in(keys, count, all, where);
  detail::shorten(found.keys, all);
  detail::shorten(found.offsets, all + 1);
  return found;
}

/// For each run of equal keys in a row: its key, `reduce` of the elements of `x` that have it, and where it begins.
/// values[r] = reduce(x[offsets[r] .. offsets[r + 1])), bit for bit. Sort by key first for one value of each key.
/// `keys` and `x` have the same size, or it is `invalid_argument`.
template <plain_operand Keys, plain_operand In>
requires detail::lie_alike<Keys, In>
auto reduce_by_key(const Keys& keys, const In& x, const reduce_options& options = {}) {
  const std::uint64_t n = detail::argument_for("the input", x).size,
                      of_keys = detail::argument_for("the keys", keys).size;
  if (n != of_keys)
    throw error(errc::invalid_argument, "there are " + std::to_string(of_keys) + " keys and " + std::to_string(n) +
                                            " elements; each element has one key");
  if constexpr (detail::is_array<Keys>)
    if (keys.device().name() != x.device().name())
      throw error(errc::invalid_argument, "the keys are on " + keys.device().name() + ", but the input is on " +
                                              x.device().name() + "; upload both to one device");
  placement place;
  place.device = options.device;
  auto found = tilewise::runs(keys, place);
  auto values = tilewise::segment_reduce(x, found.offsets, options);
  return reduced_runs{std::move(found.keys), std::move(values), std::move(found.offsets)};
}

template <operand Keys, operand In>
requires(!detail::lie_alike<Keys, In>)  //
    detail::refused reduce_by_key(const Keys&, const In&, const reduce_options& = {}) {
  static_assert(sizeof(Keys) == 0, "keys and elements lie on the host or on a device, both alike: upload the others");
  return {};
}
TILEWISE_REFUSE_OTHERS(runs)
TILEWISE_REFUSE_OTHERS(reduce_by_key)

}  // namespace tilewise
