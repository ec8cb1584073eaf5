// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <new>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace tilewise::python {

namespace {

/// Locks for devices: one for all of them, which a group takes alone, and one for each device. Two devices may share a
/// lock; then they only wait for each other. A child of fork() has its own locks, since nobody in the child would
/// release those that other threads held.
struct all_locks {
  std::shared_mutex groups;
  std::array<std::mutex, 64> devices;
  std::atomic<std::thread::id> last_caller{};  // the thread that ends the program

  std::mutex list;
  std::vector<std::weak_ptr<backend::device>> used;
  std::vector<const backend::device*> left_alone;
};

void note_use(all_locks& all, const device& at) {
  const std::lock_guard mine(all.list);
  if (std::find(all.left_alone.begin(), all.left_alone.end(), at.shared().get()) != all.left_alone.end()) return;
  for (const auto& one : all.used)
    if (one.lock() == at.shared()) return;
  std::erase_if(all.used, [](const auto& one) { return one.expired(); });
  all.used.push_back(at.shared());
}

all_locks& locks() {
  alignas(all_locks) static unsigned char memory[sizeof(all_locks)];
  static all_locks* const made = [] {
    pthread_atfork(nullptr, nullptr, [] { new (memory) all_locks; });
    return new (memory) all_locks;
  }();
  return *made;
}

[[noreturn]] void wait_for_the_end() {
  while (true) pause();
}

}  // namespace

void end_turns() {
  all_locks& all = locks();
  all.last_caller = std::this_thread::get_id();
  all.groups.lock();
  for (const auto& one : all.used) {
    const auto still_there = one.lock();
    try {
      if (still_there) device(still_there).finish();
    } catch (const error&) {  // at the end of the program nobody can be told
    }
  }
}

void leave_alone_at_the_end(const device& at) {
  all_locks& all = locks();
  const std::lock_guard mine(all.list);
  all.left_alone.push_back(at.shared().get());
}

turn::turn(const device& at) {
  const std::string& backend = at.info().backend;
  if (backend == "cpu") return;
  all_locks& all = locks();
  const std::thread::id last = all.last_caller;
  if (last == std::this_thread::get_id()) return;
  if (last != std::thread::id()) wait_for_the_end();
  note_use(all, at);
  if (backend == "group") {
    alone_ = std::unique_lock(all.groups);
  } else {
    beside_others_ = std::shared_lock(all.groups);
    const std::size_t which = std::hash<const void*>{}(at.shared().get()) / 64 % all.devices.size();
    at_one_ = std::unique_lock(all.devices[which]);
  }
}

const device& device_array::device() const {
  return std::visit([](const auto& a) -> const tilewise::device& { return a.device(); }, *values_);
}
void device_array::shorten(std::uint64_t count) {
  std::visit([&](auto& values) { values = std::move(values).first(count); }, *values_);
}
std::uint64_t device_array::size() const {
  return std::visit([](const auto& a) { return a.size(); }, *values_);
}
void* device_array::native() const {
  return std::visit([](const auto& a) { return a.native(); }, *values_);
}

device_array::~device_array() {
  const tilewise::device kept = device();
  const turn mine(kept);
  values_.reset();
}

void device_array::download(void* to) const {
  const turn mine(device());
  std::visit([to](const auto& a) { a.download(std::span(static_cast<decltype(a.download().data())>(to), a.size())); },
             *values_);
}

void device_array::finish() const {
  const turn mine(device());
  device().finish();
}

std::shared_ptr<device_array> allocate(const device& on, dtype type, std::uint64_t count) {
  const turn mine(on);
  return with_type(type, [&]<class T>(T) { return std::make_shared<device_array>(on.allocate<T>(count)); });
}

std::shared_ptr<device_array> upload(const device& on, dtype type, const void* from, std::uint64_t count) {
  const turn mine(on);
  return with_type(type, [&]<class T>(T) {
    return std::make_shared<device_array>(on.upload(std::span(static_cast<const T*>(from), count)));
  });
}

std::shared_ptr<device_array> view_of(const device& on, dtype type, void* native, std::uint64_t count) {
  const turn mine(on);
  return with_type(type, [&]<class T>(T) { return std::make_shared<device_array>(view<T>(on, native, count)); });
}

detail::argument device_array::as(const char* name) const {
  return std::visit([name](const auto& a) { return detail::argument_for(name, a); }, *values_);
}

detail::argument operand::as(const char* name) const {
  if (there) return there->as(name);
  return {.name = name, .type = type, .size = count, .host = host};
}
detail::argument operand::as(const char* name, matrix_layout of) const {
  detail::argument matrix = as(name);
  matrix.of = of;
  return matrix;
}
detail::argument operand::as(const char* name, matrix_layout of, axis which) const {
  detail::argument lines = as(name, of);
  lines.which = which;
  return lines;
}

void push(any_partial& onto, const operand& values, const placement& where) {
  in_turn(values, where, [&] {
    with_type(values.type, [&]<class T>(T) {
      auto& part = std::get<partial<T>>(onto);
      if (values.there)
        part.push(values.there->as<T>(), where);
      else
        part.push(std::span(static_cast<const T*>(values.host), values.count), where);
    });
  });
}

}  // namespace tilewise::python
