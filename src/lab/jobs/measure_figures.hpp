// SPDX-License-Identifier: Apache-2.0
// Takes the figures that figures.hpp predicts from.
#pragma once

#include "lab/jobs/figures.hpp"
#include "lab/jobs/memory_folder.hpp"

#include <functional>

namespace tilewise::lab {

/// Of a file in this folder, by all threads.
double measure_reading(const memory_folder& folder);

/// Of an open device: its transfers, unless it is a CPU, and how long each algorithm computes there. `tell` hears what
/// is measured next. `start_ns` is left to the caller, who opened it.
device_figures measure_device(backend::device& on, const std::function<void(const std::string&)>& tell);

}  // namespace tilewise::lab
