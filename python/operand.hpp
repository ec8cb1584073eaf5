// SPDX-License-Identifier: Apache-2.0
// What an object of Python lends to a call: its memory, where it lies, with no copy and no conversion.
#pragma once

#include "dlpack.hpp"

#include <string>

namespace tilewise::python {

namespace py = pybind11;

/// tilewise.array of Python: elements on a device, and their shape.
struct shaped_array {
  std::shared_ptr<device_array> values;
  dimensions shape;

  shaped_array(std::shared_ptr<device_array> values_, const dimensions& shape_)
      : values(std::move(values_)), shape(shape_) {}
  ~shaped_array();  // where it may have to wait for the device's turn, other threads of Python run
};

/// tilewise.partial of Python. Threads take turns at it.
struct shared_partial {
  any_partial state;
  std::mutex one_at_a_time;

  explicit shared_partial(any_partial made) : state(std::move(made)) {}
  any_partial copy();
  dtype type() const { return static_cast<dtype>(state.index()); }
  op operation();
};
/// The argument `carry`, or null for None. Throws unless it is of this type, and of the operation if one is named.
shared_partial* carry_from(py::handle object, dtype type, std::optional<op> named);

/// pybind11 gives memory that nothing was put into for an object whose __init__ has not run, as after __new__ alone.
template <class T>
class caster_of_made : public py::detail::type_caster_base<T> {
 public:
  bool load(py::handle from, bool convert) {
    if (py::isinstance<T>(from))
      for (auto& part : py::detail::values_and_holders(reinterpret_cast<py::detail::instance*>(from.ptr())))
        if (part.value_ptr() == nullptr)
          throw py::type_error(
              std::string("this ") + Py_TYPE(from.ptr())->tp_name +
              " was made without its __init__; make it by tilewise.array, tilewise.partial or tilewise.open");
    return py::detail::type_caster_base<T>::load(from, convert);
  }
};

/// Objects of Python that live as long as the process.
struct lasting_objects {
  lasting_objects();

  py::object empty, ndarray, as_dtype, frameworks, tensor_on_gpu;
  std::array<py::object, 6> scalars, dtypes;  // by the number of a dtype
};
const lasting_objects& objects();

enum class access : std::uint8_t { read, write };
/// Of a fold along an axis they may lie apart, and whoever transposed the matrix can take the other axis.
enum class rows : std::uint8_t { packed, may_lie_apart, of_a_fold };

/// The memory of one argument, borrowed for the length of a call. Nothing is copied or converted, except that elements
/// of half precision are read as float32: what else cannot be used as it is becomes a TypeError or InvalidArgument that
/// says which call of its library mends it.
class lent {
 public:
  /// Of a further operand, `beside` is the first: work is ordered by that one's stream.
  lent(py::handle object, const char* name, access how = access::read, const lent* beside = nullptr,
       rows of_matrix = rows::packed);
  ~lent();
  lent(const lent&) = delete;

  operand memory;
  dimensions shape;
  std::uint64_t row_stride = 0;        // elements, of a matrix
  std::optional<tilewise::device> on;  // unless it is plain host memory
  bool own_stream = true;              // else its owner has to be told when the work is done, which is by waiting

  const char* name() const { return name_; }
  py::handle object() const { return object_; }
  bool is_output() const { return how_ == access::write; }
  bool is_buffer() const { return buffer_.obj != nullptr; }

  /// Throw unless the argument of this call has so many dimensions, or a type and a shape.
  const lent& require_rank(int count, const char* call) const;
  const lent& require_type(dtype wanted) const;
  const lent& require(dtype wanted, const dimensions& wanted_shape) const;
  /// The same memory as another library's elements of another type, of the same size.
  void read_as(dtype type);

  matrix_layout layout() const { return {shape[0], shape[1], row_stride}; }
  image_size size() const { return {shape[0], shape[1]}; }

  /// What to pass instead, for a sentence that says why.
  std::string remedy(const char* what, const std::string& detail = "") const;

 private:
  lent(const char* name, py::handle object, access how) : name_(name), object_(object), how_(how) {}
  void take(const lent* beside, rows of_matrix);
  void take_widened(const lent* beside, rows of_matrix);
  void take_unlent(const py::error_already_set& why, const lent* beside, rows of_matrix);
  void take_buffer(const lent* beside, rows of_matrix);
  void take_own(const shaped_array& array);
  bool take_tensor_on_gpu(const lent* beside, rows of_matrix);
  void take_dlpack(const lent* beside, rows of_matrix);
  std::optional<int> borrow_tensor(const lent* beside);
  void take_cuda_interface(const lent* beside, rows of_matrix);
  void place_on_gpu(int ordinal, void* data);
  void order_by(int ordinal, std::uintptr_t current_stream, const lent* beside);
  std::int64_t choose_stream(int ordinal, const lent* beside);
  void set_length(int at, std::int64_t length);
  void require_memory(const void* data) const;
  void require_few_dimensions(std::size_t given) const;
  void set_strides(const std::int64_t* strides, std::int64_t unit, rows of_matrix);
  [[noreturn]] void refuse_object() const;
  [[noreturn]] void refuse_to_write() const;
  [[noreturn]] void refuse_element_type(const std::string& type) const;
  void count_elements();

  const char* name_;
  py::handle object_;
  access how_;
  py::object widened_;  // what is lent in place of an array of half precision
  Py_buffer buffer_{};
  taken_tensor tensor_;
  std::uintptr_t stream_ = 0;
  int ordinal_ = -1;  // of another library's GPU memory
};

/// Whether the object's elements are read through Python's buffers: not those of CuPy's arrays on a GPU, which offer a
/// buffer and then refuse it.
bool has_host_buffer(pybind11::handle object);

/// What a function of tilewise._wrong_calls says about an argument.
template <class... About>
std::string advice(const char* function, const About&... about) {
  return py::module_::import("tilewise._wrong_calls").attr(function)(about...).template cast<std::string>();
}

/// Throws InvalidArgument.
[[noreturn]] void refuse(const std::string& why);

std::string_view numpy_name(dtype type);
/// How a sentence names it, a word in quotes.
std::string text_of(py::handle object);
/// From a string of Python's, as long as that lives; no name of ours holds what would end or break a sentence about it.
std::string_view word_from(py::handle object, const char* name);
/// sum, product, min or max.
op operation_from(py::handle word);
/// From what NumPy takes for one: "float32", numpy.float32, numpy.dtype("f4").
dtype dtype_from(py::handle object);

/// A new array of the first operand's kind, beside it: of NumPy, PyTorch, CuPy, or tilewise.array for all others.
py::object new_like(const lent& first, dtype type, const dimensions& shape);
/// A scalar of NumPy's.
py::object to_scalar(dtype type, const number& value);
/// None, or a number of Python's own. To make it one, its owner's code runs, which may free the memory of any array: so
/// this comes before any is lent.
py::object plain_number(py::handle value, const char* name);
/// From a number of Python or NumPy; one that the type cannot hold is a TypeError or InvalidArgument.
number to_number(dtype type, py::handle value, const char* name);

/// Refuses operands that do not lie together.
void require_together(const lent& first, const lent& other);
placement placement_of(py::handle device, py::handle variant, py::handle tuning, const lent& first);
tilewise::device device_from(py::handle object);
/// The device that this name means everywhere in the process, so that arrays which were made by name work together.
tilewise::device named_device(const std::string& name);

/// Without the interpreter's lock, for as long as it lives.
class released {
 public:
  released() : state_(PyEval_SaveThread()) {}
  ~released();
  released(const released&) = delete;

 private:
  PyThreadState* state_;
};

/// Other threads of Python run during the call.
template <class Call>
auto without_interpreter(const Call& call) {
  const released now;
  return call();
}

/// The same where it waits for a turn at a partial, which may be a long call. The work itself is short, and needs
/// nothing of Python's.
template <class Work>
auto at_its_turn(shared_partial& at, const Work& work) {
  if (const std::unique_lock mine(at.one_at_a_time, std::try_to_lock); mine) return work();
  return without_interpreter([&] {
    const std::lock_guard mine(at.one_at_a_time);
    return work();
  });
}

}  // namespace tilewise::python

namespace pybind11::detail {

template <>
class type_caster<tilewise::device> : public tilewise::python::caster_of_made<tilewise::device> {};
template <>
class type_caster<tilewise::python::shaped_array>
    : public tilewise::python::caster_of_made<tilewise::python::shaped_array> {};
template <>
class type_caster<tilewise::python::shared_partial>
    : public tilewise::python::caster_of_made<tilewise::python::shared_partial> {};

}  // namespace pybind11::detail
