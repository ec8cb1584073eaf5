// SPDX-License-Identifier: Apache-2.0
#include "operand.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include <unistd.h>

namespace tilewise::python {

namespace {

py::object of_numpy(const char* name) { return py::module_::import("numpy").attr(name); }

std::size_t index_of(dtype type) { return static_cast<std::size_t>(type); }

}  // namespace

lasting_objects::lasting_objects()
    : empty(of_numpy("empty")),
      ndarray(of_numpy("ndarray")),
      as_dtype(of_numpy("dtype")),
      frameworks(py::module_::import("tilewise._frameworks")),
      tensor_on_gpu(frameworks.attr("tensor_on_gpu")) {
  for (const dtype type : all_dtypes) {
    scalars[index_of(type)] = of_numpy(numpy_name(type).data());
    dtypes[index_of(type)] = as_dtype(scalars[index_of(type)]);
  }
}

/// Two threads may make the objects at once, since an import gives up the interpreter's lock; then one set is kept. A
/// static variable with an initializer would hold its own lock during the import, and deadlock.
const lasting_objects& objects() {
  constinit static const lasting_objects* kept = nullptr;
  if (kept == nullptr) {
    auto made = std::make_unique<const lasting_objects>();
    if (kept == nullptr) kept = made.release();
  }
  return *kept;
}

/// If the interpreter is ending, PyEval_RestoreThread ends a daemon thread by pthread_exit. On its way out the thread
/// must not touch anything of Python's, so it waits here until the process ends.
released::~released() {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {
    while (true) pause();
  }
}

shaped_array::~shaped_array() {
  if (values.use_count() == 1) without_interpreter([this] { values.reset(); });
}

any_partial shared_partial::copy() {
  return at_its_turn(*this, [this] { return state; });
}

op shared_partial::operation() {
  return at_its_turn(*this, [this] { return std::visit([](const auto& typed) { return typed.operation(); }, state); });
}

shared_partial* carry_from(py::handle object, dtype type, std::optional<op> named) {
  if (object.is_none()) return nullptr;
  if (!py::isinstance<shared_partial>(object))
    throw py::type_error(std::string("carry is of type ") + Py_TYPE(object.ptr())->tp_name +
                         "; pass a tilewise.partial");
  auto* const carry = object.cast<shared_partial*>();
  if (carry->type() != type)
    throw py::type_error("carry is a partial of " + std::string(numpy_name(carry->type())) + ", and a holds " +
                         std::string(numpy_name(type)) + "; pass a carry made with dtype=a.dtype");
  if (const op its_own = carry->operation(); named && *named != its_own)
    refuse("carry is a partial of the operation " + std::string(name_of(its_own)) + ", and the call's is " +
           std::string(name_of(*named)) + "; pass a carry of that operation, or scan with op='" +
           std::string(name_of(its_own)) + "'");
  return carry;
}

void refuse(const std::string& why) { throw error(errc::invalid_argument, why); }

std::string_view numpy_name(dtype type) {
  constexpr std::array<std::string_view, 6> names{"float32", "float64", "int32", "int64", "uint32", "uint64"};
  return names[index_of(type)];
}

/// Python refuses to print numbers of thousands of digits, and its texts may contain half characters.
std::string text_of(py::handle object) {
  const bool is_word = py::isinstance<py::str>(object);
  const auto written =
      py::reinterpret_steal<py::object>(is_word ? PyObject_Repr(object.ptr()) : PyObject_Str(object.ptr()));
  const auto bytes = py::reinterpret_steal<py::object>(
      written ? PyUnicode_AsEncodedString(written.ptr(), "utf-8", "backslashreplace") : nullptr);
  if (bytes) return bytes.cast<std::string>();
  PyErr_Clear();
  return std::string("of type ") + Py_TYPE(object.ptr())->tp_name + " and too long to be written out";
}

std::string_view word_from(py::handle object, const char* name) {
  if (!py::isinstance<py::str>(object))
    throw py::type_error(std::string(name) + " is of type " + Py_TYPE(object.ptr())->tp_name + "; pass a string");
  Py_ssize_t length = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &length);
  if (text == nullptr) PyErr_Clear();
  if (text == nullptr || std::memchr(text, '\0', static_cast<std::size_t>(length)) != nullptr)
    refuse(std::string(name) + " is " + text_of(object) +
           ", with a NUL or half of a surrogate pair, which no name here has; pass it without");
  return {text, static_cast<std::size_t>(length)};
}

op operation_from(py::handle object) {
  if (!py::isinstance<py::str>(object))
    throw py::type_error(std::string("op is of type ") + Py_TYPE(object.ptr())->tp_name + "; " +
                         advice("operation", object));
  const std::string_view word = word_from(object, "op");
  for (const op one : all_ops)
    if (word == name_of(one)) return one;
  refuse("there is no operation '" + std::string(word) + "'; say sum, product, min or max");
}

dtype dtype_from(py::handle object) {
  auto given = py::reinterpret_borrow<py::object>(object);
  try {
    given = objects().as_dtype(object);
    for (const dtype type : all_dtypes)
      if (given.equal(objects().dtypes[index_of(type)])) return type;
  } catch (const py::error_already_set& e) {  // NumPy raises several kinds for what it does not understand
    if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_ValueError) && !e.matches(PyExc_SyntaxError)) throw;
  }
  throw py::type_error(text_of(given) +
                       " is none of the types that tilewise computes with: float32, float64, int32, int64, uint32, "
                       "uint64");
}

const lent& lent::require_rank(int count, const char* call) const {
  if (shape.count != count)
    refuse(std::string(name_) + " has the shape " + shape.text() + "; this call takes an array of " +
           advice("rank", call, object_, name_, count));
  return *this;
}

const lent& lent::require_type(dtype wanted) const {
  const std::string needed(numpy_name(wanted));
  if (memory.type != wanted)
    throw py::type_error(std::string(name_) + " holds " + std::string(numpy_name(memory.type)) + " where " + needed +
                         " is needed; " + remedy("typed", needed));
  return *this;
}

const lent& lent::require(dtype wanted, const dimensions& wanted_shape) const {
  if (shape != wanted_shape)
    refuse(std::string(name_) + " has the shape " + shape.text() + "; it needs " + wanted_shape.text() +
           (is_output() ? ": pass one of that shape, or leave out= away" : ""));
  return require_type(wanted);
}

void lent::read_as(dtype type) {
  memory.type = type;
  if (memory.there) memory.there = view_of(*on, type, memory.there->native(), memory.count);
}

namespace {

py::object new_array(const device& on, dtype type, const dimensions& shape) {
  std::uint64_t count = 1;
  for (int i = 0; i < shape.count; ++i) count *= shape[i];
  auto values = without_interpreter([&] { return allocate(on, type, count); });
  return py::cast(std::make_unique<shaped_array>(std::move(values), shape));
}

}  // namespace

py::object new_like(const lent& first, dtype type, const dimensions& shape) {
  if (py::isinstance<shaped_array>(first.object())) return new_array(*first.on, type, shape);
  if (!has_host_buffer(first.object())) {
    py::object made = objects().frameworks.attr("empty")(first.object(), shape.tuple(), numpy_name(type));
    if (!made.is_none()) return made;
    if (first.memory.there) return new_array(*first.on, type, shape);
  }
  const py::object& numpy_type = objects().dtypes[index_of(type)];
  return shape.count == 1 ? objects().empty(shape[0], numpy_type) : objects().empty(shape.tuple(), numpy_type);
}

py::object to_scalar(dtype type, const number& value) {
  const py::object& make = objects().scalars[index_of(type)];
  return with_type(type, [&]<class T>(T) {  // Python's floats are doubles, and NumPy makes its own scalar from one
    return in_default_float_mode([&]() -> py::object { return make(value.as<T>()); });
  });
}

namespace {

/// Says what is wrong with a number that Python could not convert. Errors of another kind come from the object's own
/// code and are passed on.
[[noreturn]] void refuse_number(py::handle value, const char* name, dtype type) {
  const bool wrong_type = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
  const bool wrong_value =
      PyErr_ExceptionMatches(PyExc_OverflowError) != 0 || PyErr_ExceptionMatches(PyExc_ValueError) != 0;
  if (PyErr_Occurred() != nullptr && !wrong_type && !wrong_value) throw py::error_already_set();
  PyErr_Clear();
  if (wrong_type)
    throw py::type_error(std::string(name) + " is of type " + Py_TYPE(value.ptr())->tp_name + "; pass a " +
                         (is_float(type) ? "number" : "whole number"));
  const std::string range = with_type(type, [&]<class T>(T) {
    number least, most;
    least.set(std::numeric_limits<T>::lowest());
    most.set(std::numeric_limits<T>::max());
    return text_of(to_scalar(type, least)) + " to " + text_of(to_scalar(type, most));
  });
  refuse(std::string(name) + " is " + text_of(value) + ", which " + std::string(numpy_name(type)) +
         " cannot hold: it goes from " + range);
}

}  // namespace

py::object plain_number(py::handle value, const char* name) {
  PyObject* const given = value.ptr();
  if (value.is_none() || PyFloat_CheckExact(given) || PyLong_CheckExact(given))
    return py::reinterpret_borrow<py::object>(value);
  if (PyIndex_Check(given) != 0) {
    auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(given));
    if (whole) return whole;
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) refuse_number(value, name, dtype::i64);
    PyErr_Clear();  // all arrays offer __index__, and float arrays refuse it
  }
  const double as_double = PyFloat_AsDouble(given);
  if (PyErr_Occurred() != nullptr) refuse_number(value, name, dtype::f64);
  return py::float_(as_double);
}

number to_number(dtype type, py::handle value, const char* name) {
  number result;
  if (is_float(type)) {
    const double as_double = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) refuse_number(value, name, type);
    // Converting may run the caller's code, which may have changed the floating-point mode.
    with_float(type, [&]<class T>(T) {
      const T rounded = in_default_float_mode([&] { return static_cast<T>(as_double); });
      if (std::isinf(rounded) && !std::isinf(as_double)) refuse_number(value, name, type);
      result.set(rounded);
    });
    return result;
  }
  const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!whole) refuse_number(value, name, type);
  with_type(type, [&]<class T>(T) {
    try {
      if constexpr (std::is_integral_v<T>) result.set(whole.cast<T>());
    } catch (const py::cast_error&) {
      refuse_number(whole, name, type);
    }
  });
  return result;
}

namespace {

std::string place_of(const lent& x) {
  const std::string where = x.memory.there ? x.on->name() : "in the host's memory";
  return std::string(x.name()) + " is " + (x.memory.there ? "on " : "") + where;
}

}  // namespace

void require_together(const lent& first, const lent& other) {
  if (!first.memory.there && !other.memory.there) return;
  if (first.memory.there && other.memory.there && first.on->shared() == other.on->shared()) return;
  const bool same_place = first.memory.there && other.memory.there && first.on->name() == other.on->name();
  const auto call = [&] {
    return objects().frameworks.attr("call_beside")(other.object(), other.name(), first.object(), first.name());
  };
  refuse(place_of(other) + ", and " + place_of(first) + (same_place ? " with another queue" : "") + "; pass " +
         (other.is_output() ? "an output that lies there too, or leave out= away" : call().cast<std::string>()));
}

device named_device(const std::string& name) {
  static auto& opened = *new std::map<std::string, device>;
  if (const auto found = opened.find(name); found != opened.end()) return found->second;
  const device fresh = without_interpreter([&] { return open(name); });
  return opened.emplace(name, fresh).first->second;  // another thread may have added it first
}

device device_from(py::handle object) {
  if (py::isinstance<device>(object)) return object.cast<device>();
  if (!py::isinstance<py::str>(object))
    throw py::type_error(std::string("device is of type ") + Py_TYPE(object.ptr())->tp_name +
                         "; pass what tilewise.open() returns, or a name such as 'cpu:threads' or 'cuda:0'");
  return named_device(std::string(word_from(object, "device")));
}

placement placement_of(py::handle device, py::handle variant, py::handle tuning, const lent& first) {
  placement how;
  if (!variant.is_none()) how.variant = word_from(variant, "variant");
  if (!tuning.is_none()) how.tuning = word_from(tuning, "tuning");
  if (!device.is_none()) {
    how.device = device_from(device);
    if (first.memory.there && how.device->shared() != first.on->shared())
      refuse(place_of(first) + ", and is computed on where it is; leave out device=, or copy it to " +
             how.device->name());
  } else if (first.on && !first.memory.there) {
    how.device = first.on;
  }
  return how;
}

}  // namespace tilewise::python
