// SPDX-License-Identifier: Apache-2.0
// Reductions, scans and sorts, of an array, along an axis or of segments.
#include "documents.hpp"
#include "functions.hpp"
#include "module.hpp"

namespace tilewise::python {

namespace {

template <class Options>
Options folding(op operation, const tilewise::number& init, const placement& where) {
  auto options = options_at<Options>(where);
  options.op = operation;
  options.init = init;
  return options;
}
sort_options sorting(bool descending, const placement& where) {
  auto options = options_at<sort_options>(where);
  options.order = descending ? sort_order::descending : sort_order::ascending;
  return options;
}

/// A number of the type, or none for None.
tilewise::number initial_from(py::handle value, dtype type) {
  return value.is_none() ? tilewise::number() : to_number(type, value, "initial").given(type);
}

/// None, or a Python int. Call it before any memory is lent, for the reason given at plain_number().
py::object plain_axis(handle axis) {
  if (axis.is_none() || PyLong_CheckExact(axis.ptr())) return axis;
  if (PyBool_Check(axis.ptr()) == 0) {
    auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(axis.ptr()));
    if (whole) return whole;
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
  }
  throw py::type_error(std::string("axis is of type ") + Py_TYPE(axis.ptr())->tp_name + "; " + advice("axis", axis));
}

/// The axis for a number as in NumPy; -1 is the last.
int axis_from(handle axis, int dimensions) {
  const Py_ssize_t number = PyNumber_AsSsize_t(axis.ptr(), nullptr);  // at most the largest Py_ssize_t
  if (number < -dimensions || number >= dimensions)
    refuse("axis " + text_of(axis) + " is out of bounds for an array of " + std::to_string(dimensions) +
           (dimensions == 1 ? " dimension" : " dimensions"));
  return static_cast<int>(number < 0 ? number + dimensions : number);
}

/// The array as a matrix. Its columns are the lines along the first axis, or its rows are those along the last.
matrix_layout layout_along(const lent& in, int axis) {
  if (in.shape.count == 2) return in.layout();
  const int last = in.shape.count - 1;
  if (axis != 0 && axis != last)
    refuse("a has the shape " + in.shape.text() + ", and axis " + std::to_string(axis) + " lies between others; " +
           in.remedy("moved", std::to_string(axis)) + " and axis=-1");
  std::uint64_t others = 1;
  for (int i = 0; i <= last; ++i)
    if (i != axis) others *= in.shape[i];
  const std::uint64_t length = in.shape[axis];
  return axis == 0 ? matrix_layout(length, others) : matrix_layout(others, length);
}

axis lines_along(int axis_number) { return axis_number == 0 ? axis::columns : axis::rows; }

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

/// Offsets as the library reads them: unsigned ones as signed, since those that differ lie beyond every array.
detail::argument as_signed(const lent& offsets) {
  detail::argument made = offsets.memory.as("the offsets");
  made.type = dtype::i64;
  return made;
}

/// A caller's array and offsets of its segments, both one-dimensional.
struct lent_segments {
  py::object offsets_as_given;
  lent x, offsets;

  lent_segments(handle a, handle any_offsets, const char* function, const char* name = "a")
      : offsets_as_given(objects().frameworks.attr("as_offsets")(any_offsets)),
        x(a, name),
        offsets(offsets_as_given, "offsets", access::read, &x) {
    x.require_rank(1, function);
    offsets.require_rank(1, function);
    if (offsets.memory.type != dtype::u64) offsets.require_type(dtype::i64);
  }
  std::uint64_t count() const { return offsets.memory.count == 0 ? 0 : offsets.memory.count - 1; }
};

/// Not by key: from and to one array.
void sort_array(const detail::argument& from, const detail::argument& to, const sort_options& options) {
  detail::sort({&from, 1}, {&to, 1}, detail::sort_payload::none, options);
}

py::object sort_flat(const lent& in, const sort_options& options, handle out, const placement& how) {
  return written_to(out, in, in.memory.type, {in.memory.count}, rows::packed, how, [&](const lent& to) {
    sort_array(in.memory.as("the input"), to.memory.as("the output"), options);
  });
}

py::object sort_along(const lent& in, int along, const sort_options& options, handle out, const placement& how) {
  const matrix_layout from = layout_along(in, along);
  return written_to(out, in, in.memory.type, in.shape, rows::may_lie_apart, how, [&](const lent& to) {
    sort_array(in.memory.as("A", from, lines_along(along)),
               to.memory.as("the output", layout_along(to, along), lines_along(along)), options);
  });
}

py::object sort(handle a, handle any_axis, bool descending, handle out, handle device, handle variant, handle tuning) {
  const py::object axis_given = plain_axis(any_axis);
  const lent in(a, "a", access::read, nullptr, axis_given.is_none() ? rows::packed : rows::may_lie_apart);
  const placement how = placement_of(device, variant, tuning, in);
  if (!axis_given.is_none()) {
    const int along = axis_from(axis_given, in.shape.count);
    if (in.shape.count > 1) return sort_along(in, along, sorting(descending, how), out, how);
  }
  return sort_flat(in, sorting(descending, how), out, how);
}

/// The indices that sort_into(indices) writes. PyTorch has signed ones alone.
template <class Sort>
py::object indices_of(handle a, const lent& in, handle out, const placement& how, const Sort& sort_into) {
  const py::object room = in.is_buffer() ? py::none() : objects().frameworks.attr("index_room")(a, out);
  if (room.is_none()) return written_to(out, in, dtype::u32, in.shape, rows::packed, how, sort_into);
  if (!out.is_none()) lent(out, "out", access::write, &in).require(dtype::i64, in.shape);
  lent to(room, "the indices", access::write, &in);
  to.read_as(dtype::u32);
  compute(in, how, [&] { sort_into(to); });
  hand_over(in, to);
  return objects().frameworks.attr("as_index")(room, out);
}

py::object argsort(handle a, bool descending, handle out, handle device, handle variant, handle tuning) {
  const lent in(a, "a");
  in.require_rank(1, "argsort");
  const placement how = placement_of(device, variant, tuning, in);
  return indices_of(a, in, out, how, [&](const lent& to) {
    detail::argsort(in.memory.as("the input"), to.memory.as("the indices"), sorting(descending, how));
  });
}

py::object segment_argsort(handle a, handle offsets, bool descending, handle out, handle device, handle variant,
                           handle tuning) {
  const lent_segments in(a, offsets, "segment_argsort");
  const placement how = placement_of(device, variant, tuning, in.x);
  const py::object indices = indices_of(a, in.x, out, how, [&](const lent& to) {
    detail::segment_argsort(in.x.memory.as("the input"), as_signed(in.offsets), to.memory.as("the indices"),
                            sorting(descending, how));
  });
  hand_over(in.offsets);
  return indices;
}

/// What sort_into(keys, values) writes: both, as a tuple.
template <class Sort>
py::object pairs_of(const char* function, const lent& k, handle values, handle out, const placement& how,
                    const Sort& sort_into) {
  const lent v(values, "values", access::read, &k);
  v.require_rank(1, function).require(v.memory.type, k.shape);
  const bool given = !out.is_none();
  if (given && (!py::isinstance<py::tuple>(out) || PyTuple_GET_SIZE(out.ptr()) != 2))
    throw py::type_error("out of " + std::string(function) +
                         " is a tuple of two arrays: for the keys and for the values");
  const py::tuple outs = given ? py::reinterpret_borrow<py::tuple>(out) : py::make_tuple(py::none(), py::none());
  const target keys_out(outs[0], "out[0]", k, k.memory.type, k.shape);
  const target values_out(outs[1], "out[1]", v, v.memory.type, k.shape);
  compute(k, how, [&] {
    sort_into(v.memory.as("the values"), keys_out.to.memory.as("the output of keys"),
              values_out.to.memory.as("the output of values"));
  });
  hand_over(k, v, keys_out.to, values_out.to);
  return py::make_tuple(keys_out.array, values_out.array);
}

py::object sort_by_key(handle keys, handle values, bool descending, handle out, handle device, handle variant,
                       handle tuning) {
  const lent k(keys, "keys");
  k.require_rank(1, "sort_by_key");
  const placement how = placement_of(device, variant, tuning, k);
  return pairs_of("sort_by_key", k, values, out, how, [&](const auto& v, const auto& keys_out, const auto& values_out) {
    detail::sort_by_key(k.memory.as("the keys"), v, keys_out, values_out, sorting(descending, how));
  });
}

py::object segment_sort_by_key(handle keys, handle values, handle offsets, bool descending, handle out, handle device,
                               handle variant, handle tuning) {
  const lent_segments in(keys, offsets, "segment_sort_by_key", "keys");
  const placement how = placement_of(device, variant, tuning, in.x);
  const auto sort_into = [&](const auto& v, const auto& keys_out, const auto& values_out) {
    detail::segment_sort_by_key(in.x.memory.as("the keys"), v, as_signed(in.offsets), keys_out, values_out,
                                sorting(descending, how));
  };
  const py::object both = pairs_of("segment_sort_by_key", in.x, values, out, how, sort_into);
  hand_over(in.offsets);
  return both;
}

py::object segment_sort(handle a, handle offsets, bool descending, handle out, handle device, handle variant,
                        handle tuning) {
  const lent_segments in(a, offsets, "segment_sort");
  const placement how = placement_of(device, variant, tuning, in.x);
  const target y(out, "out", in.x, in.x.memory.type, in.x.shape);
  compute(in.x, how, [&] {
    detail::segment_sort(in.x.memory.as("the input"), as_signed(in.offsets), y.to.memory.as("the output"),
                         sorting(descending, how));
  });
  hand_over(in.x, in.offsets, y.to);
  return y.array;
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
  const auto axis_given = arg("axis") = py::none(), operation = arg("op") = py::none(),
             descending = arg("descending") = false;
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
  add(to, "sort", sort, documents::sort, arg("a"), arg("axis") = -1, options, descending, out);
  add(to, "argsort", argsort, documents::argsort, arg("a"), options, descending, out);
  add(to, "sort_by_key", sort_by_key, documents::sort_by_key, arg("keys"), arg("values"), options, descending, out);
  add(to, "segment_sort", segment_sort, documents::segment_sort, arg("a"), arg("offsets"), options, descending, out);
  add(to, "segment_argsort", segment_argsort, documents::segment_argsort, arg("a"), arg("offsets"), options, descending,
      out);
  add(to, "segment_sort_by_key", segment_sort_by_key, documents::segment_sort_by_key, arg("keys"), arg("values"),
      arg("offsets"), options, descending, out);
}

}  // namespace tilewise::python
