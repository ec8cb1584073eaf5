// SPDX-License-Identifier: Apache-2.0
// The roofs of a device beside its own copy and its multiply-adds (queue::copy, queue::multiply_add): what it can do at
// most, for Williams, Waterman and Patterson's roofline model (Communications of the ACM 52, 2009). A backend without
// them has no such roofs.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend {

struct roofs {
  std::string_view backend;
  /// As queue::multiply_add, with product and sum rounded each: what an order may use that fuses nothing.
  double (*multiply_then_add)(queue&, dtype);
  /// Reads the memory again and again, so often that the cost of the call itself is negligible, with all units
  /// together: each a part of its own on a CPU, and on a GPU another part in each pass, so that nothing but a cache of
  /// the whole device helps. Returns the number of bytes read. The memory's size is a multiple of 4096 bytes and below
  /// 2^35. Null for a group, whose ranks would read apart from each other.
  double (*read)(queue&, memory);
  /// The smallest memory that keeps all units busy, in bytes; null without `read`.
  std::uint64_t (*least_read)(const device_info&);
  /// The least that a kernel can do: one group of it, which reads nothing. Null on a CPU, where a call starts nothing,
  /// and for a group.
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

/// Null where the backend has none.
const roofs* roofs_of(std::string_view backend);

}  // namespace tilewise::backend
