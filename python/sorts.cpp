// SPDX-License-Identifier: Apache-2.0
// Sorts of an array, along an axis or of segments.
#include "axis.hpp"
#include "documents.hpp"
#include "module.hpp"
#include "segments.hpp"

namespace tilewise::python {

namespace {

sort_options sorting(bool descending, const placement& where) {
  auto options = options_at<sort_options>(where);
  options.order = descending ? sort_order::descending : sort_order::ascending;
  return options;
}

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

}  // namespace

void add_sorts(py::module_& to) {
  const py::kw_only options;
  const auto out = arg("out") = py::none(), descending = arg("descending") = false;
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
