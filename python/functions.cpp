// SPDX-License-Identifier: Apache-2.0
// The functions of the module that compute.
#include "documents.hpp"
#include "module.hpp"
#include "operand.hpp"

namespace tilewise::python {

namespace {

using py::arg;
using handle = const py::object&;

/// Waits for results that another library's stream could use too early.
template <class... Lent>
void hand_over(const lent& first, const Lent&... others) {
  if (!first.memory.there || (first.own_stream && (others.own_stream && ...))) return;
  without_interpreter([&] { first.memory.there->finish(); });
}

/// The output of a call: `out`, or a new array of the first operand's kind, with this type and shape.
struct target {
  target(handle out, const char* name, const lent& first, dtype type, const dimensions& shape,
         rows of_matrix = rows::packed)
      : array(out.is_none() ? new_like(first, type, shape) : out), to(array, name, access::write, &first, of_matrix) {
    to.require(type, shape);
    if (!out.is_none() && !to.is_buffer()) objects().frameworks.attr("written")(out);
  }

  const py::object array;
  const lent to;
};

/// Makes the call and returns its output when it is ready: `out`, or a new array of this type and shape.
template <class Call>
py::object written_to(handle out, const lent& in, dtype type, const dimensions& shape, rows of_matrix,
                      const Call& call) {
  const target result(out, "out", in, type, shape, of_matrix);
  without_interpreter([&] { call(result.to); });
  hand_over(in, result.to);
  return result.array;
}

sort_order order_of(bool descending) { return descending ? sort_order::descending : sort_order::ascending; }

/// A number that may be None.
class optional_number {
 public:
  optional_number(dtype type, py::handle value) : there_(!value.is_none()) {
    if (there_) value_ = to_number(type, value, "initial");
  }
  const number* get() const { return there_ ? &value_ : nullptr; }

 private:
  bool there_;
  number value_;
};

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
  const optional_number init(in.memory.type, initial);
  const matrix_layout layout = layout_along(in, along);
  dimensions shape;
  for (int i = 0; i < in.shape.count; ++i)
    if (i != along)
      shape.length[static_cast<std::size_t>(shape.count++)] = in.shape.length[static_cast<std::size_t>(i)];
  return written_to(out, in, in.memory.type, shape, rows::packed, [&](const lent& to) {
    calls::reduce_axis(in.memory, layout, lines_along(along), to.memory, operation, init.get(), how);
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
  const optional_number init(in.memory.type, initial);
  const number result = without_interpreter([&] { return calls::reduce(in.memory, operation, init.get(), how); });
  return to_scalar(in.memory.type, result);
}

py::object scan_flat(const lent& in, bool exclusive, std::optional<op> named, handle out, handle initial, handle carry,
                     const placement& how) {
  const optional_number init(in.memory.type, initial);
  shared_partial* const before = carry_from(carry, in.memory.type, named);
  const op operation = before != nullptr ? before->operation() : named.value_or(op::sum);
  return written_to(out, in, in.memory.type, {in.memory.count}, rows::packed, [&](const lent& to) {
    if (before == nullptr) return calls::scan(in.memory, to.memory, exclusive, operation, init.get(), nullptr, how);
    const std::lock_guard mine(before->one_at_a_time);
    calls::scan(in.memory, to.memory, exclusive, operation, init.get(), &before->state, how);
  });
}

py::object scan_along(const lent& in, int along, bool exclusive, op operation, handle out, handle initial,
                      const placement& how) {
  const optional_number init(in.memory.type, initial);
  const matrix_layout from = layout_along(in, along);
  return written_to(out, in, in.memory.type, in.shape, rows::may_lie_apart, [&](const lent& to) {
    calls::scan_axis(in.memory, from, lines_along(along), to.memory, layout_along(to, along), exclusive, operation,
                     init.get(), how);
  });
}

py::object scan_as(bool exclusive, std::optional<op> named, handle a, handle any_axis, handle out, handle any_initial,
                   handle carry, handle device, handle variant, handle tuning) {
  const py::object axis_given = plain_axis(any_axis), initial = plain_number(any_initial, "initial");
  const lent in(a, "a", access::read, nullptr, axis_given.is_none() ? rows::packed : rows::may_lie_apart);
  const placement how = placement_of(device, variant, tuning, in);
  if (!axis_given.is_none()) {
    const int along = axis_from(axis_given, in.shape.count);
    if (in.shape.count > 1 && !carry.is_none())
      refuse("a carry continues one array, and along an axis there are many; scan them one by one, or leave out carry");
    if (in.shape.count > 1) return scan_along(in, along, exclusive, named.value_or(op::sum), out, initial, how);
  }
  return scan_flat(in, exclusive, named, out, initial, carry, how);
}

py::object cumsum(handle a, handle axis, handle out, handle initial, handle carry, handle device, handle variant,
                  handle tuning) {
  return scan_as(false, op::sum, a, axis, out, initial, carry, device, variant, tuning);
}

/// The operation that is named. If it is None, the carry decides, and without a carry it is a sum.
std::optional<op> named_operation(handle word) { return word.is_none() ? std::optional<op>() : operation_from(word); }

py::object inclusive_scan(handle a, handle axis, handle operation, handle out, handle initial, handle carry,
                          handle device, handle variant, handle tuning) {
  return scan_as(false, named_operation(operation), a, axis, out, initial, carry, device, variant, tuning);
}

py::object exclusive_scan(handle a, handle axis, handle operation, handle out, handle initial, handle carry,
                          handle device, handle variant, handle tuning) {
  return scan_as(true, named_operation(operation), a, axis, out, initial, carry, device, variant, tuning);
}

py::object sort_flat(const lent& in, sort_order order, handle out, const placement& how) {
  return written_to(out, in, in.memory.type, {in.memory.count}, rows::packed,
                    [&](const lent& to) { calls::sort(in.memory, to.memory, order, how); });
}

py::object sort_along(const lent& in, int along, sort_order order, handle out, const placement& how) {
  const matrix_layout from = layout_along(in, along);
  return written_to(out, in, in.memory.type, in.shape, rows::may_lie_apart, [&](const lent& to) {
    calls::sort_axis(in.memory, from, lines_along(along), to.memory, layout_along(to, along), order, how);
  });
}

py::object sort(handle a, handle any_axis, bool descending, handle out, handle device, handle variant, handle tuning) {
  const py::object axis_given = plain_axis(any_axis);
  const lent in(a, "a", access::read, nullptr, axis_given.is_none() ? rows::packed : rows::may_lie_apart);
  const placement how = placement_of(device, variant, tuning, in);
  if (!axis_given.is_none()) {
    const int along = axis_from(axis_given, in.shape.count);
    if (in.shape.count > 1) return sort_along(in, along, order_of(descending), out, how);
  }
  return sort_flat(in, order_of(descending), out, how);
}

py::object argsort(handle a, bool descending, handle out, handle device, handle variant, handle tuning) {
  const lent in(a, "a");
  in.require_rank(1, "argsort");
  const placement how = placement_of(device, variant, tuning, in);
  const auto sort_into = [&](const lent& to) { calls::argsort(in.memory, to.memory, order_of(descending), how); };
  const py::object room = in.is_buffer() ? py::none() : objects().frameworks.attr("index_room")(a, out);
  if (room.is_none()) return written_to(out, in, dtype::u32, in.shape, rows::packed, sort_into);
  if (!out.is_none()) lent(out, "out", access::write, &in).require(dtype::i64, in.shape);
  lent to(room, "the indices", access::write, &in);
  to.read_as(dtype::u32);
  without_interpreter([&] { sort_into(to); });
  hand_over(in, to);
  return objects().frameworks.attr("as_index")(room, out);
}

py::object sort_by_key(handle keys, handle values, bool descending, handle out, handle device, handle variant,
                       handle tuning) {
  const lent k(keys, "keys");
  k.require_rank(1, "sort_by_key");
  const lent v(values, "values", access::read, &k);
  v.require_rank(1, "sort_by_key").require(v.memory.type, k.shape);
  const placement how = placement_of(device, variant, tuning, k);
  const bool given = !out.is_none();
  if (given && (!py::isinstance<py::tuple>(out) || PyTuple_GET_SIZE(out.ptr()) != 2))
    throw py::type_error("out of sort_by_key is a tuple of two arrays: for the keys and for the values");
  const py::tuple outs = given ? py::reinterpret_borrow<py::tuple>(out) : py::make_tuple(py::none(), py::none());
  const target keys_out(outs[0], "out[0]", k, k.memory.type, k.shape);
  const target values_out(outs[1], "out[1]", v, v.memory.type, k.shape);
  const operand &keys_to = keys_out.to.memory, &values_to = values_out.to.memory;
  without_interpreter([&] { calls::sort_by_key(k.memory, v.memory, keys_to, values_to, order_of(descending), how); });
  hand_over(k, v, keys_out.to, values_out.to);
  return py::make_tuple(keys_out.array, values_out.array);
}

py::object matmul(handle a, handle b, handle out, bool fast, handle device, handle variant, handle tuning) {
  const lent left(a, "a", access::read, nullptr, rows::may_lie_apart);
  left.require_rank(2, "matmul");
  const lent right(b, "b", access::read, &left, rows::may_lie_apart);
  right.require_rank(2, "matmul").require_type(left.memory.type);
  const placement how = placement_of(device, variant, tuning, left);
  const target result(out, "out", left, left.memory.type, {left.shape[0], right.shape[1]}, rows::may_lie_apart);
  const lent& to = result.to;
  without_interpreter([&] {
    calls::matmul(left.memory, left.layout(), right.memory, right.layout(), to.memory, to.layout(), fast, how);
  });
  hand_over(left, right, to);
  return result.array;
}

py::object matvec(handle a, handle x, handle out, handle device, handle variant, handle tuning) {
  const lent matrix(a, "a", access::read, nullptr, rows::may_lie_apart);
  matrix.require_rank(2, "matvec");
  const lent vector(x, "x", access::read, &matrix);
  vector.require_rank(1, "matvec").require(matrix.memory.type, {matrix.shape[1]});
  const placement how = placement_of(device, variant, tuning, matrix);
  const target result(out, "out", matrix, matrix.memory.type, {matrix.shape[0]});
  without_interpreter([&] { calls::matvec(matrix.memory, matrix.layout(), vector.memory, result.to.memory, how); });
  hand_over(matrix, vector, result.to);
  return result.array;
}

py::object dot(handle a, handle b, handle device, handle variant, handle tuning) {
  const lent x(a, "a");
  x.require_rank(1, "dot");
  const lent y(b, "b", access::read, &x);
  y.require_rank(1, "dot").require(x.memory.type, x.shape);
  const placement how = placement_of(device, variant, tuning, x);
  const number result = without_interpreter([&] { return calls::dot(x.memory, y.memory, how); });
  return to_scalar(x.memory.type, result);
}

py::object polymul(handle a, handle b, handle modulus, handle out, handle device, handle variant, handle tuning) {
  std::optional<std::uint64_t> by;
  if (!modulus.is_none()) by = to_number(dtype::u64, modulus, "modulus").as<std::uint64_t>();
  const lent x(a, "a");
  x.require_rank(1, "polymul");
  if (x.memory.type == dtype::u32 || x.memory.type == dtype::u64)
    throw py::type_error("a holds " + std::string(numpy_name(x.memory.type)) +
                         "; coefficients are int32, int64, float32 or float64: " + x.remedy("typed", "int64"));
  const lent y(b, "b", access::read, &x);
  y.require_rank(1, "polymul").require_type(x.memory.type);
  const placement how = placement_of(device, variant, tuning, x);
  const dtype type = is_float(x.memory.type) ? x.memory.type : dtype::i64;
  const target result(out, "out", x, type, {product_size(x.memory.count, y.memory.count)});
  without_interpreter([&] { calls::polymul(x.memory, y.memory, result.to.memory, by, how); });
  hand_over(x, y, result.to);
  return result.array;
}

const lent& require_float(const lent& x) {
  if (!is_float(x.memory.type))
    throw py::type_error(std::string(x.name()) + " holds " + std::string(numpy_name(x.memory.type)) +
                         "; this call takes float32 and float64: " + x.remedy("typed", "float64"));
  return x;
}

border border_from(handle object) {
  const std::string_view word = word_from(object, "border");
  if (word == "valid") return border::valid;
  if (word == "zero") return border::zero;
  refuse("there is no border '" + std::string(word) + "'; " + advice("border", word));
}

py::object convolve(handle image, handle mask, handle border, handle out, handle device, handle variant,
                    handle tuning) {
  const auto at_edges = border_from(border);
  const lent pixels(image, "image");
  require_float(pixels).require_rank(2, "convolve");
  const lent weights(mask, "mask", access::read, &pixels);
  weights.require_rank(2, "convolve").require_type(pixels.memory.type);
  const placement how = placement_of(device, variant, tuning, pixels);
  const image_size size = convolved_size(pixels.size(), weights.size(), at_edges);
  const target result(out, "out", pixels, pixels.memory.type, {size.rows, size.columns});
  const operand& to = result.to.memory;
  without_interpreter(
      [&] { calls::convolve(pixels.memory, pixels.size(), weights.memory, weights.size(), to, at_edges, how); });
  hand_over(pixels, weights, result.to);
  return result.array;
}

py::object diffuse(handle field, handle steps, handle mask, handle dx, handle dy, handle rate, bool allow_unstable,
                   handle out, handle device, handle variant, handle tuning) {
  diffusion problem{.rows = 0,
                    .columns = 0,
                    .steps = to_number(dtype::u64, steps, "steps").as<std::uint64_t>(),
                    .mask = to_number(dtype::u32, mask, "mask").as<std::uint32_t>(),
                    .dx = to_number(dtype::f64, dx, "dx").as<double>(),
                    .dy = to_number(dtype::f64, dy, "dy").as<double>(),
                    .rate = to_number(dtype::f64, rate, "rate").as<double>()};
  const lent from(field, "field");
  require_float(from).require_rank(2, "diffuse");
  problem.rows = from.shape[0];
  problem.columns = from.shape[1];
  const placement how = placement_of(device, variant, tuning, from);
  return written_to(out, from, from.memory.type, from.shape, rows::packed,
                    [&](const lent& to) { calls::diffuse(from.memory, to.memory, problem, allow_unstable, how); });
}

/// The options that every function takes last.
template <class Function, class... Arguments>
void add(py::module_& to, const char* name, Function function, const char* documentation, const Arguments&... own) {
  to.def(name, function, documentation, own..., arg("device") = py::none(), arg("variant") = py::none(),
         arg("tuning") = py::none());
}

}  // namespace

void add_functions(py::module_& to) {
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
  add(to, "sort", sort, documents::sort, arg("a"), arg("axis") = -1, options, descending, out);
  add(to, "argsort", argsort, documents::argsort, arg("a"), options, descending, out);
  add(to, "sort_by_key", sort_by_key, documents::sort_by_key, arg("keys"), arg("values"), options, descending, out);
  add(to, "matmul", matmul, documents::matmul, arg("a"), arg("b"), out, options, arg("fast") = false);
  add(to, "matvec", matvec, documents::matvec, arg("a"), arg("x"), out, options);
  add(to, "dot", dot, documents::dot, arg("a"), arg("b"), options);
  add(to, "polymul", polymul, documents::polymul, arg("a"), arg("b"), options, arg("modulus") = py::none(), out);
  add(to, "convolve", convolve, documents::convolve, arg("image"), arg("mask"), options, arg("border") = "valid", out);
  add(to, "diffuse", diffuse, documents::diffuse, arg("field"), arg("steps") = 1, options, arg("mask") = 53,
      arg("dx") = 0.5, arg("dy") = 0.5, arg("rate") = 0.00625, arg("allow_unstable") = false, out);
}

}  // namespace tilewise::python
