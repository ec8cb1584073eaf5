// SPDX-License-Identifier: Apache-2.0
// DLPack, by which array libraries pass memory to each other: https://dmlc.github.io/dlpack. Versions from 1 on say
// whether the memory may be written. The structure of 0.8 is for libraries that know no other.
#pragma once

#include "calls.hpp"

#include <pybind11/pybind11.h>

namespace tilewise::python {

namespace dlpack {

enum device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
enum type_code : std::uint8_t { signed_integer = 0, unsigned_integer = 1, floating = 2 };

struct tensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t dimensions;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null if the array is packed
  std::uint64_t offset;   // in bytes
};

struct managed_tensor {
  tensor of;
  void* context;
  void (*deleter)(managed_tensor*);
};

constexpr std::uint32_t newest = 1;
enum flag : std::uint64_t { read_only = 1, is_copied = 2 };

struct versioned_tensor {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(versioned_tensor*);
  std::uint64_t flags;
  tensor of;
};

}  // namespace dlpack

/// The number of dimensions and the length of each.
struct dimensions {
  static constexpr int most = 8;
  int count = 0;
  std::array<std::int64_t, most> length{};

  dimensions() = default;
  dimensions(std::initializer_list<std::uint64_t> lengths) {
    for (const std::uint64_t n : lengths) length[static_cast<std::size_t>(count++)] = static_cast<std::int64_t>(n);
  }
  std::uint64_t operator[](int i) const { return static_cast<std::uint64_t>(length[static_cast<std::size_t>(i)]); }
  bool operator==(const dimensions&) const = default;

  std::string text() const;  // "(3, 4)"
  pybind11::tuple tuple() const;
};

struct taken_tensor {
  std::shared_ptr<const dlpack::tensor> of;
  std::uint64_t flags = 0;
};

/// The tensor from `object.__dlpack__(stream=...)`. It is released with the last copy of the result. A stream of -1
/// asks the owner not to wait; 0 passes no stream, as for host memory.
taken_tensor take_tensor(pybind11::handle object, std::int64_t stream);

/// A capsule for another library. The memory stays alive as long as the capsule's tensor. Without flags the capsule has
/// version 0.8.
pybind11::capsule give_tensor(std::shared_ptr<device_array> values, const dimensions& shape, std::pair<int, int> device,
                              std::optional<std::uint64_t> flags);

}  // namespace tilewise::python
