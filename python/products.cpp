// SPDX-License-Identifier: Apache-2.0
// Products of matrices, vectors and polynomials, convolution and diffusion.
#include "documents.hpp"
#include "functions.hpp"
#include "module.hpp"

namespace tilewise::python {

namespace {

py::object matmul(handle a, handle b, handle out, bool fast, handle device, handle variant, handle tuning) {
  const lent left(a, "a", access::read, nullptr, rows::may_lie_apart);
  left.require_rank(2, "matmul");
  const lent right(b, "b", access::read, &left, rows::may_lie_apart);
  right.require_rank(2, "matmul").require_type(left.memory.type);
  const placement how = placement_of(device, variant, tuning, left);
  const target result(out, "out", left, left.memory.type, {left.shape[0], right.shape[1]}, rows::may_lie_apart);
  const lent& to = result.to;
  auto options = options_at<matmul_options>(how);
  options.fast = fast;
  compute(left, how, [&] {
    detail::matmul(left.memory.as("A", left.layout()), right.memory.as("B", right.layout()),
                   to.memory.as("C", to.layout()), options);
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
  compute(matrix, how, [&] {
    detail::matvec(matrix.memory.as("A", matrix.layout()), vector.memory.as("x"), result.to.memory.as("y"), how);
  });
  hand_over(matrix, vector, result.to);
  return result.array;
}

py::object dot(handle a, handle b, handle device, handle variant, handle tuning) {
  const lent x(a, "a");
  x.require_rank(1, "dot");
  const lent y(b, "b", access::read, &x);
  y.require_rank(1, "dot").require(x.memory.type, x.shape);
  const placement how = placement_of(device, variant, tuning, x);
  number result;
  compute(x, how, [&] { detail::dot(x.memory.as("x"), y.memory.as("y"), result.result(x.memory.type), how); });
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
  auto options = options_at<polymul_options>(how);
  options.modulus = by;
  compute(x, how, [&] { detail::polymul(x.memory.as("a"), y.memory.as("b"), result.to.memory.as("c"), options); });
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
  auto options = options_at<convolve_options>(how);
  options.border = at_edges;
  compute(pixels, how, [&] {
    detail::convolve(pixels.memory.as("the image", pixels.layout()), weights.memory.as("the mask", weights.layout()),
                     result.to.memory.as("y"), options);
  });
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
  auto options = options_at<diffuse_options>(how);
  options.allow_unstable = allow_unstable;
  return written_to(out, from, from.memory.type, from.shape, rows::packed, how, [&](const lent& to) {
    detail::diffuse(from.memory.as("the field"), to.memory.as("the result"), problem, options);
  });
}

}  // namespace

void add_products(py::module_& to) {
  const py::kw_only options;
  const auto out = arg("out") = py::none();
  add(to, "matmul", matmul, documents::matmul, arg("a"), arg("b"), out, options, arg("fast") = false);
  add(to, "matvec", matvec, documents::matvec, arg("a"), arg("x"), out, options);
  add(to, "dot", dot, documents::dot, arg("a"), arg("b"), options);
  add(to, "polymul", polymul, documents::polymul, arg("a"), arg("b"), options, arg("modulus") = py::none(), out);
  add(to, "convolve", convolve, documents::convolve, arg("image"), arg("mask"), options, arg("border") = "valid", out);
  add(to, "diffuse", diffuse, documents::diffuse, arg("field"), arg("steps") = 1, options, arg("mask") = 53,
      arg("dx") = 0.5, arg("dy") = 0.5, arg("rate") = 0.00625, arg("allow_unstable") = false, out);
}

}  // namespace tilewise::python
