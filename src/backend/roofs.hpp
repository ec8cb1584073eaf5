// SPDX-License-Identifier: Apache-2.0
// Measures peaks ("roofs") of a device for the roofline model of Williams, Waterman and Patterson (Communications of
// the ACM 52, 2009). Two more are queue::copy and queue::multiply_add, which every backend has.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend {

struct roofs {
  std::string_view backend;
  /// Like queue::multiply_add, but with product and sum rounded separately: the peak for orders without fused
  /// multiply-adds.
  double (*multiply_then_add)(queue&, dtype);
  /// Reads the memory with all compute units, so often that the cost of the call is negligible. Returns the number of
  /// bytes read. On a CPU each thread reads a part of its own. On a GPU each unit reads another part in each pass, so
  /// that only a cache shared by the whole device helps. The memory's size must be a multiple of 4096 bytes and below
  /// 2^35. Null for a group: its ranks would read independently of each other.
  double (*read)(queue&, memory);
  /// The smallest memory that keeps all units busy, in bytes; null without `read`.
  std::uint64_t (*least_read)(const device_info&);
  /// Launches the smallest possible kernel, one work-group that reads nothing, to measure the launch time. Null for a
  /// group and on a CPU, where calls launch nothing.
  void (*launch)(queue&);
};

namespace cpu {
double multiply_then_add(backend::queue& on, dtype type);
double read(backend::queue& on, memory what);
std::uint64_t least_read(const device_info& on);
}  // namespace cpu
namespace group {
double multiply_then_add(backend::queue& on, dtype type);
}  // namespace group
namespace opencl {
double multiply_then_add(backend::queue& on, dtype type);
double read(backend::queue& on, memory what);
std::uint64_t least_read(const device_info& on);
void launch(backend::queue& on);
}  // namespace opencl
namespace cuda {
double multiply_then_add(backend::queue& on, dtype type);
double read(backend::queue& on, memory what);
std::uint64_t least_read(const device_info& on);
void launch(backend::queue& on);
}  // namespace cuda

/// Null if the backend has none.
const roofs* roofs_of(std::string_view backend);

}  // namespace tilewise::backend
