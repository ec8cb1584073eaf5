// SPDX-License-Identifier: Apache-2.0
// An axis as NumPy has it, and the lines of an array along it.
#pragma once

#include "functions.hpp"

namespace tilewise::python {

/// None, or a Python int. Call it before any memory is lent, for the reason given at plain_number().
inline py::object plain_axis(handle axis) {
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
inline int axis_from(handle axis, int dimensions) {
  const Py_ssize_t number = PyNumber_AsSsize_t(axis.ptr(), nullptr);  // at most the largest Py_ssize_t
  if (number < -dimensions || number >= dimensions)
    refuse("axis " + text_of(axis) + " is out of bounds for an array of " + std::to_string(dimensions) +
           (dimensions == 1 ? " dimension" : " dimensions"));
  return static_cast<int>(number < 0 ? number + dimensions : number);
}

/// The array as a matrix. Its columns are the lines along the first axis, or its rows are those along the last.
inline matrix_layout layout_along(const lent& in, int axis) {
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

inline axis lines_along(int axis_number) { return axis_number == 0 ? axis::columns : axis::rows; }

}  // namespace tilewise::python
