// SPDX-License-Identifier: Apache-2.0
// Reductions and scans, of an array, along an axis, of segments or of runs of equal keys.
#include "axis.hpp"
#include "documents.hpp"
#include "module.hpp"
#include "segments.hpp"

namespace tilewise::python {

namespace {

template <class Options>
Options folding(op operation, const tilewise::number& init, const placement& where) {
  auto options = options_at<Options>(where);
  options.op = operation;
  options.init = init;
  return options;
}
/// A number of the type, or none for None.
tilewise::number initial_from(py::handle value, dtype type) {
  return value.is_none() ? tilewise::number() : to_number(type, value, "initial").given(type);
}

template <op operation>
py::object reduce_along(const lent& in, int along, handle out, handle initial, handle device, handle variant,
                        handle tuning) {
  const placement how = placement_of(device, variant, tuning, in);
  const tilewise::number init = initial_from(initial, in.memory.type);
  const matrix_layout layout = layout_along(in, along);
  dimensions shape;
  for (int i = 0; i < in.shape.count; ++i)
    if (i != along)
      shape.length[static_cast<std::size_t>(shape.count++)] = in.shape.length[static_cast<std::size_t>(i)];
  return written_to(out, in, in.memory.type, shape, rows::packed, how, [&](const lent& to) {
    detail::reduce(in.memory.as("A", layout, lines_along(along)), to.memory.as("the values"),
                   folding<reduce_options>(operation, init, how));
  });
}

template <op operation>
py::object reduce_by(handle a, handle any_axis, handle out, handle any_initial, handle device, handle variant,
                     handle tuning) {
  const py::object axis_given = plain_axis(any_axis), initial = plain_number(any_initial, "initial");
  const lent in(a, "a", access::read, nullptr, axis_given.is_none() ? rows::packed : rows::of_a_fold);
  if (!axis_given.is_none()) {
    const int along = axis_from(axis_given, in.shape.count);
    if (in.shape.count > 1) return reduce_along<operation>(in, along, out, initial, device, variant, tuning);
  }
  if (!out.is_none())
    refuse("there is one result, which is returned; out is for those along an axis of a matrix: leave it out");
  const placement how = placement_of(device, variant, tuning, in);
  const tilewise::number init = initial_from(initial, in.memory.type);
  number result;
  compute(in, how, [&] {
    detail::reduce(in.memory.as("the input"), result.result(in.memory.type),
                   folding<reduce_options>(operation, init, how));
  });
  return to_scalar(in.memory.type, result);
}

py::object scan_flat(const lent& in, detail::scan_kind kind, std::optional<op> named, handle out, handle initial,
                     handle carry, const placement& how) {
  const tilewise::number init = initial_from(initial, in.memory.type);
  shared_partial* const before = carry_from(carry, in.memory.type, named);
  const op operation = before != nullptr ? before->operation() : named.value_or(op::sum);
  auto options = folding<scan_options>(operation, init, how);
  return written_to(out, in, in.memory.type, {in.memory.count}, rows::packed, how, [&](const lent& to) {
    std::unique_lock<std::mutex> mine;
    if (before != nullptr) {
      mine = std::unique_lock(before->one_at_a_time);
      options.carry = std::visit([](auto& part) { return carry_of_scan(&part); }, before->state);
    }
    detail::scan(in.memory.as("the input"), to.memory.as("the output"), kind, options);
  });
}

py::object scan_along(const lent& in, int along, detail::scan_kind kind, op operation, handle out, handle initial,
                      const placement& how) {
  const tilewise::number init = initial_from(initial, in.memory.type);
  const matrix_layout from = layout_along(in, along);
  return written_to(out, in, in.memory.type, in.shape, rows::may_lie_apart, how, [&](const lent& to) {
    detail::scan(in.memory.as("A", from, lines_along(along)),
                 to.memory.as("the output", layout_along(to, along), lines_along(along)), kind,
                 folding<scan_options>(operation, init, how));
  });
}

py::object scan_as(detail::scan_kind kind, std::optional<op> named, handle a, handle any_axis, handle out,
                   handle any_initial, handle carry, handle device, handle variant, handle tuning) {
  const py::object axis_given = plain_axis(any_axis), initial = plain_number(any_initial, "initial");
  const lent in(a, "a", access::read, nullptr, axis_given.is_none() ? rows::packed : rows::may_lie_apart);
  const placement how = placement_of(device, variant, tuning, in);
  if (!axis_given.is_none()) {
    const int along = axis_from(axis_given, in.shape.count);
    if (in.shape.count > 1 && !carry.is_none())
      refuse("a carry continues one array, and along an axis there are many; scan them one by one, or leave out carry");
    if (in.shape.count > 1) return scan_along(in, along, kind, named.value_or(op::sum), out, initial, how);
  }
  return scan_flat(in, kind, named, out, initial, carry, how);
}

py::object cumsum(handle a, handle axis, handle out, handle initial, handle carry, handle device, handle variant,
                  handle tuning) {
  return scan_as(detail::scan_kind::inclusive, op::sum, a, axis, out, initial, carry, device, variant, tuning);
}

/// The operation that is named. If it is None, the carry decides, and without a carry it is a sum.
std::optional<op> named_operation(handle word) { return word.is_none() ? std::optional<op>() : operation_from(word); }

py::object inclusive_scan(handle a, handle axis, handle operation, handle out, handle initial, handle carry,
                          handle device, handle variant, handle tuning) {
  return scan_as(detail::scan_kind::inclusive, named_operation(operation), a, axis, out, initial, carry, device,
                 variant, tuning);
}

py::object exclusive_scan(handle a, handle axis, handle operation, handle out, handle initial, handle carry,
                          handle device, handle variant, handle tuning) {
  return scan_as(detail::scan_kind::exclusive, named_operation(operation), a, axis, out, initial, carry, device,
                 variant, tuning);
}

py::object segment_reduce(handle a, handle any_offsets, handle operation, handle out, handle any_initial, handle device,
                          handle variant, handle tuning) {
  const op by = operation_from(operation);
  const py::object initial = plain_number(any_initial, "initial");
  const lent_segments in(a, any_offsets, "segment_reduce");
  const placement how = placement_of(device, variant, tuning, in.x);
  const tilewise::number init = initial_from(initial, in.x.memory.type);
  const target values(out, "out", in.x, in.x.memory.type, {in.count()});
  compute(in.x, how, [&] {
    detail::segment_reduce(in.x.memory.as("the input"), as_signed(in.offsets), values.to.memory.as("the values"),
                           folding<reduce_options>(by, init, how));
  });
  hand_over(in.x, in.offsets, values.to);
  return values.array;
}

py::object segment_scan(handle a, handle any_offsets, handle operation, bool exclusive, handle out, handle any_initial,
                        handle device, handle variant, handle tuning) {
  const op by = operation_from(operation);
  const py::object initial = plain_number(any_initial, "initial");
  const lent_segments in(a, any_offsets, "segment_scan");
  const placement how = placement_of(device, variant, tuning, in.x);
  auto options = folding<segment_scan_options>(by, initial_from(initial, in.x.memory.type), how);
  options.exclusive = exclusive;
  const target y(out, "out", in.x, in.x.memory.type, in.x.shape);
  compute(in.x, how, [&] {
    detail::segment_scan(in.x.memory.as("the input"), as_signed(in.offsets), y.to.memory.as("the output"), options);
  });
  hand_over(in.x, in.offsets, y.to);
  return y.array;
}

/// The first elements of a new array.
py::object first_of(const py::object& made, std::uint64_t count) {
  if (!py::isinstance<shaped_array>(made)) return made[py::slice(0, static_cast<py::ssize_t>(count), 1)];
  auto& array = made.cast<shaped_array&>();
  array.values->shorten(count);
  array.shape = {count};
  return made;
}

/// The keys and the offsets of the runs of equal keys.
std::pair<py::object, py::object> find_runs(const lent& keys, const placement& how) {
  number count;
  const auto find = [&](std::uint64_t room) {
    const target run_keys(py::none(), "the keys of runs", keys, keys.memory.type, {room});
    const target at(py::none(), "the offsets", keys, dtype::i64, {room + 1});
    compute(keys, how, [&] {
      detail::runs(keys.memory.as("the keys"), count.result(dtype::i64), run_keys.to.memory.as("the keys of runs"),
                   at.to.memory.as("the offsets"), how);
    });
    hand_over(keys, run_keys.to, at.to);
    return std::pair(run_keys.array, at.array);
  };
  const std::uint64_t room = detail::first_room(keys.memory.count, keys.memory.there != nullptr);
  const auto found = find(room);
  const auto all = static_cast<std::uint64_t>(count.as<std::int64_t>());
  if (all > room) return find(all);
  return {first_of(found.first, all), first_of(found.second, all + 1)};
}

py::object runs(handle keys, handle device, handle variant, handle tuning) {
  const lent in(keys, "keys");
  in.require_rank(1, "runs");
  const auto found = find_runs(in, placement_of(device, variant, tuning, in));
  return py::make_tuple(found.first, found.second);
}

py::object reduce_by_key(handle keys, handle a, handle operation, handle any_initial, handle device, handle variant,
                         handle tuning) {
  const py::object initial = plain_number(any_initial, "initial");
  const lent k(keys, "keys");
  k.require_rank(1, "reduce_by_key");
  const lent in(a, "a", access::read, &k);
  in.require_rank(1, "reduce_by_key");
  if (k.memory.count != in.memory.count)
    refuse("there are " + std::to_string(k.memory.count) + " keys and " + std::to_string(in.memory.count) +
           " elements; each element has one key");
  const auto [run_keys, offsets] = find_runs(k, placement_of(device, py::none(), py::none(), k));
  const py::object values = segment_reduce(a, offsets, operation, py::none(), initial, device, variant, tuning);
  return py::make_tuple(run_keys, values, offsets);
}

}  // namespace

void add_folds(py::module_& to) {
  const py::kw_only options;
  const auto out = arg("out") = py::none(), initial = arg("initial") = py::none(), carry = arg("carry") = py::none();
  const auto axis_given = arg("axis") = py::none(), operation = arg("op") = py::none();
  add(to, "sum", reduce_by<op::sum>, documents::sum, arg("a"), axis_given, options, out, initial);
  add(to, "prod", reduce_by<op::product>, documents::prod, arg("a"), axis_given, options, out, initial);
  add(to, "min", reduce_by<op::min>, documents::min, arg("a"), axis_given, options, out, initial);
  add(to, "max", reduce_by<op::max>, documents::max, arg("a"), axis_given, options, out, initial);
  add(to, "cumsum", cumsum, documents::cumsum, arg("a"), axis_given, options, out, initial, carry);
  add(to, "inclusive_scan", inclusive_scan, documents::inclusive_scan, arg("a"), axis_given, options, operation, out,
      initial, carry);
  add(to, "exclusive_scan", exclusive_scan, documents::exclusive_scan, arg("a"), axis_given, options, operation, out,
      initial, carry);
  add(to, "segment_reduce", segment_reduce, documents::segment_reduce, arg("a"), arg("offsets"), options,
      arg("op") = "sum", out, initial);
  add(to, "segment_scan", segment_scan, documents::segment_scan, arg("a"), arg("offsets"), options, arg("op") = "sum",
      arg("exclusive") = false, out, initial);
  add(to, "runs", runs, documents::runs, arg("keys"), options);
  add(to, "reduce_by_key", reduce_by_key, documents::reduce_by_key, arg("keys"), arg("a"), options, arg("op") = "sum",
      initial);
}

}  // namespace tilewise::python
