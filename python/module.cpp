// SPDX-License-Identifier: Apache-2.0
#include "module.hpp"

#include <tilewise/tilewise.hpp>

#include <array>
#include <cstring>
#include <utility>

#include <dlfcn.h>

namespace tilewise::python {

namespace py = pybind11;

namespace {

struct error_class {
  errc code;
  const char* name;
  PyObject* built_in;
  const char* meaning;
};

py::object make_class(const char* name, const char* doc, py::handle bases) {
  const std::string full = std::string("tilewise.") + name;
  return py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr));
}

/// Each class derives from both tilewise.Error and the built-in exception that fits.
std::array<PyObject*, 7>& error_classes() {
  static std::array<PyObject*, 7> all{};
  return all;
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const error& e) {
    // The message may contain any bytes, for example from an environment variable.
    auto text = py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(e.what(), static_cast<Py_ssize_t>(std::strlen(e.what())), "backslashreplace"));
    try {
      text = py::module_::import("tilewise._wrong_calls").attr("in_python")(text);
    } catch (py::error_already_set&) {  // the interpreter is ending, so use the library's message
    }
    PyErr_SetObject(error_classes()[static_cast<std::size_t>(e.code())], text.ptr());
  }
}

/// This module keeps objects beyond a call, and objects of one interpreter must not reach another.
void refuse_second_interpreter() {
  static const std::int64_t first = PyInterpreterState_GetID(PyInterpreterState_Get());
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != first)
    throw py::import_error(
        "tilewise is in use by another interpreter of this process, and serves one; use processes, "
        "or threads of that interpreter");
}

PyCFunctionWithKeywords of_pybind11 = nullptr;

/// Replaces pybind11's message for a call with wrong arguments, which shows whole arrays, by one made in Python.
void explain_wrong_call(PyObject* arguments, PyObject* named) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  try {
    const auto text = py::str(py::handle(value)).cast<std::string>();
    const std::string name = text.substr(0, text.find('('));
    if (text.starts_with(name + "(): incompatible ")) {
      const py::object keywords = named != nullptr ? py::reinterpret_borrow<py::object>(named) : py::dict();
      py::object better =
          py::module_::import("tilewise._wrong_calls").attr("explain")(name, py::handle(arguments), keywords);
      Py_DECREF(std::exchange(value, better.release().ptr()));
    }
  } catch (py::error_already_set&) {  // the function's name cannot be converted
  }
  PyErr_Restore(type, value, trace);
}

/// The function that Python calls for each of ours. If the arguments are wrong and a keyword cannot be converted to a
/// string, such as half of a surrogate pair, pybind11 throws; no exception may pass through Python's C code. Arguments
/// and results are converted in the floating-point mode in which the library computes.
PyObject* call(PyObject* self, PyObject* arguments, PyObject* named) {
  const default_float_mode during;
  try {
    PyObject* const result = of_pybind11(self, arguments, named);
    if (result == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) explain_wrong_call(arguments, named);
    return result;
  } catch (py::error_already_set& why) {
    why.restore();
    py::raise_from(PyExc_TypeError, "incompatible function arguments, one with a name that cannot be written out");
  }
  return nullptr;
}

/// Lets all functions and methods of a module or a class go through `call`.
void guard_calls(py::handle holder) {
  for (const auto& [name, value] : py::dict(holder.attr("__dict__"))) {
    if (py::isinstance<py::type>(value)) guard_calls(value);
    const py::handle function = py::detail::get_function(value);
    if (!function || !PyCFunction_Check(function.ptr())) continue;
    PyMethodDef& how = *reinterpret_cast<PyCFunctionObject*>(function.ptr())->m_ml;
    const auto its_own = reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(how.ml_meth));
    if (its_own == of_pybind11) how.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call));
  }
}

void guard_all_calls(py::module_& of) {
  const py::handle one = py::detail::get_function(of.attr("library_path"));
  of_pybind11 = reinterpret_cast<PyCFunctionWithKeywords>(
      reinterpret_cast<void (*)()>(reinterpret_cast<PyCFunctionObject*>(one.ptr())->m_ml->ml_meth));
  guard_calls(of);
}

std::string library_path() {
  Dl_info where;
  const auto address = reinterpret_cast<const void*>(&version);
  return dladdr(address, &where) != 0 && where.dli_fname != nullptr ? where.dli_fname : "";
}

}  // namespace

void add_errors(py::module_& to) {
  const std::array<error_class, 7> all{{
      {errc::invalid_argument, "InvalidArgument", PyExc_ValueError, "The call makes no sense as it stands."},
      {errc::unsupported, "Unsupported", PyExc_NotImplementedError,
       "A well-formed request that this device, variant or build cannot serve."},
      {errc::out_of_memory, "OutOfMemory", PyExc_MemoryError, "The message names the need and the limit."},
      {errc::overflow, "Overflow", PyExc_OverflowError, "An exact result does not fit its type."},
      {errc::device_lost, "DeviceLost", PyExc_RuntimeError, "The device is missing, stopped answering or failed."},
      {errc::build_failed, "BuildFailed", PyExc_RuntimeError, "A device program did not compile; its log is there."},
      {errc::io, "FileError", PyExc_OSError, "A file could not be read, understood or written."},
  }};
  const py::object base = make_class("Error", "What every error of the library is.", PyExc_Exception);
  to.attr("Error") = base;
  for (const error_class& one : all) {
    py::object made = make_class(one.name, one.meaning, py::make_tuple(base, py::handle(one.built_in)));
    to.attr(one.name) = made;
    error_classes()[static_cast<std::size_t>(one.code)] = made.release().ptr();
  }
  py::register_exception_translator(translate);
}

}  // namespace tilewise::python

PYBIND11_MODULE(_core, module) {
  namespace python = tilewise::python;
  module.doc() = "The compiled part of tilewise; import tilewise instead.";
  python::refuse_second_interpreter();
  pybind11::options settings;
  settings.disable_function_signatures();
  module.attr("__version__") = tilewise::version();
  module.attr("order_version") = tilewise::order_version;
  module.def("refuse_second_interpreter", python::refuse_second_interpreter);
  module.def("library_path", python::library_path);
  python::add_errors(module);
  python::add_devices(module);
  python::add_arrays(module);
  python::add_folds(module);
  python::add_sorts(module);
  python::add_products(module);
  python::guard_all_calls(module);
}
