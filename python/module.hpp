// SPDX-License-Identifier: Apache-2.0
// What the module tilewise consists of.
#pragma once

#include <pybind11/pybind11.h>

namespace tilewise::python {

void add_errors(pybind11::module_& to);
void add_devices(pybind11::module_& to);    // device, devices, open
void add_arrays(pybind11::module_& to);     // array, partial
void add_functions(pybind11::module_& to);  // what computes

}  // namespace tilewise::python
