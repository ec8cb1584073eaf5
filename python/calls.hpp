// SPDX-License-Identifier: Apache-2.0
// Operands whose types are known only at run time, and calls with them. This file uses nothing of Python.
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
  const array<T>& as() const {
    return std::get<array<T>>(*values_);
  }
  detail::argument as(const char* name) const;
  const tilewise::device& device() const;
  std::uint64_t size() const;
  /// Keeps the first elements.
  void shorten(std::uint64_t count);
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

  /// As the library takes it; `name` is what its messages call it.
  detail::argument as(const char* name) const;
  detail::argument as(const char* name, matrix_layout of) const;
  detail::argument as(const char* name, matrix_layout of, axis which) const;
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
  /// As an option of a call.
  tilewise::number given(dtype type) const {
    return with_type(type, [this]<class T>(T) { return tilewise::number(as<T>()); });
  }
  /// As the result of a call.
  detail::argument result(dtype type) { return {.name = "the result", .type = type, .size = 1, .host = bytes_}; }

 private:
  alignas(8) unsigned char bytes_[8] = {};
};

/// The state of a partial<T> of any type.
using any_partial = std::variant<partial<float>, partial<double>, partial<std::int32_t>, partial<std::int64_t>,
                                 partial<std::uint32_t>, partial<std::uint64_t>>;

/// Appends an operand of the same type.
void push(any_partial& onto, const operand& values, const placement& where);

/// Makes a call in the turn of its device. All operands must be in host memory, or all on the device of `first`.
template <class Call>
void in_turn(const operand& first, const placement& where, const Call& call) {
  std::optional<turn> mine;
  if (first.there)
    mine.emplace(first.there->device());
  else if (where.device)
    mine.emplace(*where.device);
  call();
}

}  // namespace tilewise::python
