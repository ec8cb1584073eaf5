// SPDX-License-Identifier: Apache-2.0
// The parts of the module tilewise.
#pragma once

#include <pybind11/pybind11.h>

namespace tilewise::python {

void add_errors(pybind11::module_& to);
void add_devices(pybind11::module_& to);  // device, devices, open
void add_arrays(pybind11::module_& to);   // array, partial
void add_folds(pybind11::module_& to);    // reductions and scans
void add_sorts(pybind11::module_& to);
void add_products(pybind11::module_& to);  // the other functions that compute

}  // namespace tilewise::python
