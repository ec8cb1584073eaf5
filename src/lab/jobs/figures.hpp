// SPDX-License-Identifier: Apache-2.0
// Measured figures of a machine, and a prediction from them: does a job that starts with a file finish sooner on the
// CPU, or on a device that its data must be copied to?
#pragma once

#include "lab/jobs/memory_folder.hpp"
#include "registry/algorithm.hpp"

#include <tilewise/device.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tilewise::lab {

/// How long an algorithm computes: the time at one size, from which it grows with a power of the operations.
struct growth {
  double operations = 0, ns = 0;
  double power = 1;  // below 1 if larger problems need less time per operation

  double ns_for(double operations_of_problem) const;
  bool operator==(const growth&) const = default;
};

struct device_figures {
  std::string name, identity;                               // "cuda:0"; hardware and driver
  double start_ns = 0;                                      // to open it, once in each process; 0 for a CPU
  double latency_ns = 0;                                    // of the shortest upload plus download
  double upload_bytes_per_s = 0, download_bytes_per_s = 0;  // 0 on a CPU
  double pieces_from_bytes = 0;                             // larger operands are copied while others are computed
  std::map<std::string, growth> computing;                  // by figure_name; without transfers

  bool operator==(const device_figures&) const = default;
};

struct machine_figures {
  double read_bytes_per_s = 0;  // from a file that is in memory
  device_figures cpu;
  std::optional<device_figures> device;  // the device that `auto` would choose besides the CPU, if any

  bool operator==(const machine_figures&) const = default;
};

/// The name of an algorithm's figure, such as "scan.f32". Figures of floats also stand for integers of the same width.
std::string figure_name(const registry::problem& p);

/// Predicted times until the results are in the host's memory.
struct job_times {
  double cpu_ns, device_ns;
};
/// None if there is no such device, or if the algorithm was not measured on both. With `while_reading` the CPU computes
/// what it has read so far, whereas a device starts after the whole file was read.
std::optional<job_times> predict(const machine_figures& figures, const registry::problem& p, bool while_reading);

/// Speed of reading a file in this folder with all threads, in bytes/s.
double measure_reading(const memory_folder& folder);

/// Measures an open device: its transfers, unless it is a CPU, and how long each algorithm computes there. `tell` is
/// called with what is measured next. The caller, who opened the device, sets `start_ns`.
device_figures measure_device(backend::device& on, const std::function<void(const std::string&)>& tell);

}  // namespace tilewise::lab
