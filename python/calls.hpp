// SPDX-License-Identifier: Apache-2.0
// The library's calls, for operands whose types are known only at run time. This file uses nothing of Python.
#pragma once

#include <tilewise/tilewise.hpp>

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <variant>

namespace tilewise::python {

/// A thread's turn at a device. A queue takes calls from one thread at a time, except on a CPU; a group uses the queues
/// of other devices. A thread that has a turn or waits for one must not hold Python's interpreter lock, and must not
/// wait for it.
class turn {
 public:
  explicit turn(const device& at);
  turn(const turn&) = delete;

 private:
  std::shared_lock<std::shared_mutex> beside_others_;
  std::unique_lock<std::shared_mutex> alone_;
  std::unique_lock<std::mutex> at_one_;
};

/// Call it at the end of the program: waits for all work on devices. From then on only the calling thread gets a turn,
/// since a driver crashes if it is unloaded while it works.
void end_turns();
/// Makes end_turns() ignore a device that is kept: it works on another library's stream, which may be closed by then.
void leave_alone_at_the_end(const device& at);

/// An array on a device, of any type. The alternatives are in the order of dtype.
class device_array {
 public:
  template <scalar T>
  explicit device_array(array<T>&& values) : values_(std::move(values)) {}
  ~device_array();
  device_array(const device_array&) = delete;

  dtype type() const { return static_cast<dtype>(values_->index()); }
  template <scalar T>
  array<T>& as() {
    return std::get<array<T>>(*values_);
  }
  const tilewise::device& device() const;
  std::uint64_t size() const;
  void* native() const;

  /// Both of these wait for the device.
  void download(void* to) const;
  void finish() const;

 private:
  using any = std::variant<array<float>, array<double>, array<std::int32_t>, array<std::int64_t>, array<std::uint32_t>,
                           array<std::uint64_t>>;
  std::optional<any> values_;
};

std::shared_ptr<device_array> allocate(const device& on, dtype type, std::uint64_t count);
std::shared_ptr<device_array> upload(const device& on, dtype type, const void* from, std::uint64_t count);
/// An array over memory that somebody else owns.
std::shared_ptr<device_array> view_of(const device& on, dtype type, void* native, std::uint64_t count);

/// An operand of a call: host memory, or an array on a device.
struct operand {
  dtype type = dtype::f32;
  std::uint64_t count = 0;
  void* host = nullptr;
  std::shared_ptr<device_array> there;  // null for host memory

  template <scalar T>
  std::span<T> span() const {
    return {static_cast<T*>(host), count};
  }
};

/// A value of any type.
class number {
 public:
  template <scalar T>
  void set(T value) {
    std::memcpy(bytes_, &value, sizeof value);
  }
  template <scalar T>
  T as() const {
    T value;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }

 private:
  alignas(8) unsigned char bytes_[8] = {};
};

/// The options of every call: where and how to run.
struct placement {
  std::optional<tilewise::device> device;
  std::string_view variant, tuning;
};

/// The state of a partial<T> of any type.
using any_partial = std::variant<partial<float>, partial<double>, partial<std::int32_t>, partial<std::int64_t>,
                                 partial<std::uint32_t>, partial<std::uint64_t>>;

/// All operands of a call must be in host memory, or all on one device, and have the types that the call asks for.
namespace calls {

number reduce(const operand& in, op operation, const number* init, const placement& how);
void reduce_axis(const operand& in, matrix_layout of_in, axis which, const operand& values, op operation,
                 const number* init, const placement& how);
void scan(const operand& in, const operand& out, bool exclusive, op operation, const number* init, any_partial* carry,
          const placement& how);
void scan_axis(const operand& in, matrix_layout of_in, axis which, const operand& out, matrix_layout of_out,
               bool exclusive, op operation, const number* init, const placement& how);
void push(any_partial& onto, const operand& values, const placement& how);
void sort(const operand& in, const operand& out, sort_order order, const placement& how);
void sort_axis(const operand& in, matrix_layout of_in, axis which, const operand& out, matrix_layout of_out,
               sort_order order, const placement& how);
void argsort(const operand& in, const operand& indices, sort_order order, const placement& how);
void sort_by_key(const operand& keys, const operand& values, const operand& keys_out, const operand& values_out,
                 sort_order order, const placement& how);
void matmul(const operand& a, matrix_layout of_a, const operand& b, matrix_layout of_b, const operand& c,
            matrix_layout of_c, bool fast, const placement& how);
void matvec(const operand& a, matrix_layout of_a, const operand& x, const operand& y, const placement& how);
number dot(const operand& x, const operand& y, const placement& how);
void polymul(const operand& a, const operand& b, const operand& c, std::optional<std::uint64_t> modulus,
             const placement& how);
void convolve(const operand& image, image_size of_image, const operand& mask, image_size of_mask, const operand& y,
              border at_edges, const placement& how);
void diffuse(const operand& field, const operand& result, const diffusion& problem, bool allow_unstable,
             const placement& how);

}  // namespace calls

}  // namespace tilewise::python
