// SPDX-License-Identifier: Apache-2.0
// Arrays in a device's memory.
#pragma once

#include <tilewise/device.hpp>
#include <tilewise/export.hpp>

#include <utility>
#include <vector>

namespace tilewise {

/// `size()` elements in the memory of one device. Move-only. The memory is freed after the work that the device's queue
/// already holds.
template <scalar T>
class TILEWISE_API array {
 public:
  using value_type = T;  ///< the type of an element

  std::uint64_t size() const { return size_; }                ///< number of elements
  const tilewise::device& device() const { return device_; }  ///< the device that holds it

  /// Copies the elements to the host; waits for the device.
  std::vector<T> download() const;
  /// The same into memory of the caller. Throws `invalid_argument` unless it holds size() elements.
  void download(std::span<T> to) const;

  /// The first elements; the memory of the others stays allocated with them.
  array first(std::uint64_t count) &&;

  /// The CUDA device pointer, a CPU array's host pointer, or the OpenCL cl_mem.
  void* native() const;

  // Made by device::upload, device::allocate, view (interop.hpp) and the algorithms.
  array(tilewise::device owner, std::shared_ptr<backend::memory> storage, std::uint64_t size)
      : device_(std::move(owner)), storage_(std::move(storage)), size_(size) {}
  const backend::memory& storage() const {
    if (!storage_) refuse_moved_from("array");
    return *storage_;
  }
  array(array&&) noexcept = default;
  array& operator=(array&&) noexcept = default;

 private:
  tilewise::device device_;
  std::shared_ptr<backend::memory> storage_;
  std::uint64_t size_;
};

/// An array of the same size on the same device, for a result; its contents are unspecified. On a group, each rank gets
/// as many elements as it has of `other`.
template <class T>
TILEWISE_API array<T> allocate_like(const array<T>& other);

}  // namespace tilewise
