// SPDX-License-Identifier: Apache-2.0
#include "backend/openacc/queue.hpp"

#include "backend/cpu/pool.hpp"

#include <algorithm>
#include <chrono>

#include <dlfcn.h>

namespace tilewise::backend::openacc {

namespace {

constexpr std::uint64_t alignment = 256;  // a GPU's memory is aligned already; the host's is rounded up

std::uint64_t to_alignment(const void* base) { return -reinterpret_cast<std::uintptr_t>(base) % alignment; }

}  // namespace

decltype(&acc_get_property) find_get_property() {
  static const auto found = reinterpret_cast<decltype(&acc_get_property)>(dlsym(RTLD_DEFAULT, "acc_get_property"));
  return found;
}

queue::queue(const backend::device& owner, acc_device_t type, int ordinal)
    : backend::queue(owner), type_(type), ordinal_(ordinal) {}

queue::~queue() {
  trim();
  for (const auto& [base, bytes] : live_) free_block(base, bytes);
}

void queue::free_block(void* base, std::uint64_t bytes) noexcept {
  held_ -= bytes;
  during("acc_free", [&] { acc_free(base); });
}

std::uint64_t queue::free_bytes() const {
  const auto of_gpu = [&] { return find_get_property()(ordinal_, type_, acc_property_free_memory); };
  const std::uint64_t of_all = type_ == acc_device_host ? cpu::physical_memory() : during("acc_get_property", of_gpu);
  const std::uint64_t limit = device().info().memory;
  return limit == 0 ? of_all : std::min(of_all, limit - std::min(limit, held_));
}

void queue::trim() noexcept {
  make_current();
  for (const auto& [bytes, base] : idle_) free_block(base, bytes);
  idle_.clear();
  idle_bytes_ = 0;
}

memory queue::allocate(std::uint64_t bytes) {
  if (bytes == 0) return {};
  make_current();
  void* base = nullptr;
  if (const auto found = idle_.find(bytes); found != idle_.end()) {
    base = found->second;
    idle_.erase(found);
    idle_bytes_ -= bytes;
  } else {
    if (bytes >= free_bytes()) trim();
    // Checked first, since libgomp prints a message when it runs out of memory.
    base = bytes < free_bytes() ? during("acc_malloc", [&] { return acc_malloc(bytes + alignment); }) : nullptr;
    if (base == nullptr)
      throw error(errc::out_of_memory, device().info().name + " has no room for " + std::to_string(bytes) +
                                           " bytes: " + std::to_string(free_bytes()) +
                                           " are free; use less data or free other arrays first");
    held_ += bytes;
  }
  try {
    live_.emplace(base, bytes);
  } catch (...) {
    free_block(base, bytes);
    throw;
  }
  return {base, to_alignment(base), bytes};
}

void queue::release(memory what) noexcept {
  if (what.base == nullptr) return;
  const auto found = live_.find(what.base);
  const std::uint64_t bytes = found->second;
  live_.erase(found);
  try {
    if (idle_bytes_ + bytes <= device().info().memory / 8) {  // others cannot use idle blocks
      idle_.emplace(bytes, what.base);
      idle_bytes_ += bytes;
      return;
    }
  } catch (const std::bad_alloc&) {
    // There is no memory to record the block: free it.
  }
  make_current();
  free_block(what.base, bytes);
}

/// `base` is null, which distinguishes the caller's memory from the queue's.
memory queue::wrap(void* native, std::uint64_t bytes) {
  return {nullptr, reinterpret_cast<std::uintptr_t>(native), bytes};
}

void queue::upload(memory to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  make_current();
  during("acc_memcpy_to_device", [&] { acc_memcpy_to_device(to.as<void>(), const_cast<void*>(from), bytes); });
}

void queue::download(void* to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return;
  make_current();
  during("acc_memcpy_from_device", [&] { acc_memcpy_from_device(to, from.as<void>(), bytes); });
}

void queue::start_clock() { clock_started_ = std::chrono::steady_clock::now().time_since_epoch().count(); }

double queue::stop_clock() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count() - clock_started_);
}

}  // namespace tilewise::backend::openacc
