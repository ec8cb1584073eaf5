// SPDX-License-Identifier: Apache-2.0
// Borrows the memory of a Python object for a call, where it lies, without a copy or a conversion.
#pragma once

#include "dlpack.hpp"

#include <string>

namespace tilewise::python {

namespace py = pybind11;

/// tilewise.array in Python: elements on a device, and their shape.
struct shaped_array {
  std::shared_ptr<device_array> values;
  dimensions shape;

  shaped_array(std::shared_ptr<device_array> values_, const dimensions& shape_)
      : values(std::move(values_)), shape(shape_) {}
  ~shaped_array();  // lets other Python threads run if it waits for the device's turn
};

/// tilewise.partial in Python. Threads use it one at a time.
struct shared_partial {
  any_partial state;
  std::mutex one_at_a_time;

  explicit shared_partial(any_partial made) : state(std::move(made)) {}
  any_partial copy();
  dtype type() const { return static_cast<dtype>(state.index()); }
  op operation();
};
/// The argument `carry`, or null for None. Throws unless it has this type and, if an operation is named, that
/// operation.
shared_partial* carry_from(py::handle object, dtype type, std::optional<op> named);

/// Throws for an object whose __init__ has not run, as after __new__ alone: pybind11 then gives uninitialized memory.
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

/// Python objects that live as long as the process.
struct lasting_objects {
  lasting_objects();

  py::object empty, ndarray, as_dtype, frameworks, tensor_on_gpu;
  std::array<py::object, 6> scalars, dtypes;  // by the index of a dtype
};
const lasting_objects& objects();

enum class access : std::uint8_t { read, write };
/// How the rows of a matrix may lie: packed; with gaps; or, for a fold along an axis, with gaps but not transposed,
/// since the caller can take the other axis.
enum class rows : std::uint8_t { packed, may_lie_apart, of_a_fold };

/// The memory of one argument, borrowed for the length of a call. Nothing is copied or converted, except that
/// half-precision elements are read as float32. Anything else that cannot be used as it is raises a TypeError or
/// InvalidArgument that names the call of its library that fixes it.
class lent {
 public:
  /// For a further operand, `beside` is the first one: its stream orders the work.
  lent(py::handle object, const char* name, access how = access::read, const lent* beside = nullptr,
       rows of_matrix = rows::packed);
  ~lent();
  lent(const lent&) = delete;

  operand memory;
  dimensions shape;
  std::uint64_t row_stride = 0;        // of a matrix, in elements
  std::optional<tilewise::device> on;  // empty for plain host memory
  bool own_stream = true;              // false: its owner's stream differs, so the call waits for the work

  const char* name() const { return name_; }
  py::handle object() const { return object_; }
  bool is_output() const { return how_ == access::write; }
  bool is_buffer() const { return buffer_.obj != nullptr; }

  /// These throw unless the argument has this number of dimensions, this type, or this type and shape.
  const lent& require_rank(int count, const char* call) const;
  const lent& require_type(dtype wanted) const;
  const lent& require(dtype wanted, const dimensions& wanted_shape) const;
  /// Reads the memory as elements of another type of the same size.
  void read_as(dtype type);

  matrix_layout layout() const { return {shape[0], shape[1], row_stride}; }
  image_size size() const { return {shape[0], shape[1]}; }

  /// What to pass instead, for a message that says why.
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
  py::object widened_;  // the float32 copy of a half-precision array
  Py_buffer buffer_{};
  taken_tensor tensor_;
  std::uintptr_t stream_ = 0;
  int ordinal_ = -1;  // the GPU of another library's memory
};

/// Whether the object's elements can be read through Python's buffer protocol. CuPy's arrays on a GPU offer a buffer
/// and then refuse it.
bool has_host_buffer(pybind11::handle object);

/// Calls a function of tilewise._wrong_calls about an argument.
template <class... About>
std::string advice(const char* function, const About&... about) {
  return py::module_::import("tilewise._wrong_calls").attr(function)(about...).template cast<std::string>();
}

/// Throws InvalidArgument.
[[noreturn]] void refuse(const std::string& why);

std::string_view numpy_name(dtype type);
/// The object as a message shows it; a word is in quotes.
std::string text_of(py::handle object);
/// A Python string, valid as long as the object. Refuses characters that no name of ours has and that would break a
/// message.
std::string_view word_from(py::handle object, const char* name);
/// sum, product, min or max.
op operation_from(py::handle word);
/// The type that NumPy's dtype argument names: "float32", numpy.float32, numpy.dtype("f4").
dtype dtype_from(py::handle object);

/// A new array of the first operand's kind, on the same device: NumPy, PyTorch, CuPy, or tilewise.array for all others.
py::object new_like(const lent& first, dtype type, const dimensions& shape);
/// A NumPy scalar.
py::object to_scalar(dtype type, const number& value);
/// None, or a Python number. Converting runs the object's own code, which may free the memory of any array, so call
/// this before memory is lent.
py::object plain_number(py::handle value, const char* name);
/// Converts a Python or NumPy number. If the type cannot hold it, throws TypeError or InvalidArgument.
number to_number(dtype type, py::handle value, const char* name);

/// Refuses operands that are in different places.
void require_together(const lent& first, const lent& other);
placement placement_of(py::handle device, py::handle variant, py::handle tuning, const lent& first);
tilewise::device device_from(py::handle object);
/// The device with this name, the same one everywhere in the process, so that arrays made by name work together.
tilewise::device named_device(const std::string& name);

/// Releases the interpreter's lock for its lifetime.
class released {
 public:
  released() : state_(PyEval_SaveThread()) {}
  ~released();
  released(const released&) = delete;

 private:
  PyThreadState* state_;
};

/// Makes a call during which other Python threads run.
template <class Call>
auto without_interpreter(const Call& call) {
  const released now;
  return call();
}

/// The same for work on a partial. Only waiting for the turn may be long; the work itself is short and uses nothing of
/// Python's.
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
