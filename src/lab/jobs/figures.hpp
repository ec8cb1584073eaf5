// SPDX-License-Identifier: Apache-2.0
// Measured figures of a machine, and what they predict: is a job that starts with a file done sooner on the CPU, or on
// a device that its data must travel to?
#pragma once

#include "lab/jobs/memory_folder.hpp"
#include "registry/algorithm.hpp"

#include <tilewise/device.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tilewise::lab {

/// How long an algorithm computes: as measured at one size, from which it grows with the operations to some power.
struct growth {
  double operations = 0, ns = 0;
  double power = 1;  // below 1 where larger problems need less time for an operation

  double ns_for(double operations_of_problem) const;
  bool operator==(const growth&) const = default;
};

struct device_figures {
  std::string name, identity;                               // "cuda:0"; its hardware and driver
  double start_ns = 0;                                      // until it is open, once in each process; a CPU is
  double latency_ns = 0;                                    // of the shortest upload and download together
  double upload_bytes_per_s = 0, download_bytes_per_s = 0;  // none on a CPU
  double pieces_from_bytes = 0;             // operands of so many bytes travel while others are computed
  std::map<std::string, growth> computing;  // by figure_name; without transfers

  bool operator==(const device_figures&) const = default;
};

struct machine_figures {
  double read_bytes_per_s = 0;  // of a file that is in memory
  device_figures cpu;
  std::optional<device_figures> device;  // that `auto` takes, if there is one besides the CPU

  bool operator==(const machine_figures&) const = default;
};

/// "scan.f32": what is measured of floats stands for integers of the same width.
std::string figure_name(const registry::problem& p);

/// Until the results are in the host's memory.
struct job_times {
  double cpu_ns, device_ns;
};
/// None where there is no such device, or the algorithm was not measured on both. `while_reading`: the CPU computes
/// what it has read so far, and a device can only start later.
std::optional<job_times> predict(const machine_figures& figures, const registry::problem& p, bool while_reading);

/// Of a file in this folder, by all threads.
double measure_reading(const memory_folder& folder);

/// Of an open device: its transfers, unless it is a CPU, and how long each algorithm computes there. `tell` hears what
/// is measured next. `start_ns` is left to the caller, who opened it.
device_figures measure_device(backend::device& on, const std::function<void(const std::string&)>& tell);

}  // namespace tilewise::lab
