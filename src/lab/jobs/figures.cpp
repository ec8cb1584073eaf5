// SPDX-License-Identifier: Apache-2.0
#include "lab/jobs/figures.hpp"

#include <algorithm>
#include <cmath>

namespace tilewise::lab {

namespace {

const growth* find(const device_figures& on, const std::string& name) {
  const auto found = on.computing.find(name);
  return found == on.computing.end() ? nullptr : &found->second;
}

double ns_of(double bytes, double bytes_per_s) { return bytes / bytes_per_s * 1e9; }

}  // namespace

double growth::ns_for(double operations_of_problem) const {
  return ns * std::pow(operations_of_problem / operations, power);
}

std::string figure_name(const registry::problem& p) {
  return std::string(p.what->name) + "." + std::string(name_of(size_of(p.type) == 4 ? dtype::f32 : dtype::f64));
}

std::optional<job_times> predict(const machine_figures& figures, const registry::problem& p, bool while_reading) {
  if (!figures.device) return std::nullopt;
  const device_figures& device = *figures.device;
  const growth* const here = find(figures.cpu, figure_name(p));
  const growth* const there = find(device, figure_name(p));
  if (here == nullptr || there == nullptr) return std::nullopt;
  const double in = registry::total_bytes(p.what->inputs(p)), out = registry::total_bytes(p.what->outputs(p));
  const double operations = p.what->operations(p), read = ns_of(in, figures.read_bytes_per_s);
  const double up = ns_of(in, device.upload_bytes_per_s), down = ns_of(out, device.download_bytes_per_s);
  const double computing = here->ns_for(operations), kernel = there->ns_for(operations);
  const bool in_pieces = p.what->divides != nullptr && in + out >= device.pieces_from_bytes;
  return job_times{.cpu_ns = while_reading ? std::max(read, computing) : read + computing,
                   .device_ns = device.start_ns + read + device.latency_ns +
                                (in_pieces ? std::max({up, kernel, down}) : up + kernel + down)};
}

}  // namespace tilewise::lab
