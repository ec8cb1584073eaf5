// SPDX-License-Identifier: Apache-2.0
// A queue that uses OpenACC's synchronous operations, on an accelerator or on the host.
#pragma once

#include "backend/backend.hpp"
#include "backend/driver_call.hpp"

#include <map>

#include <openacc.h>

namespace tilewise::backend::openacc {

/// The most gangs of one launch; if the loop has more iterations, gangs run several.
inline constexpr std::uint64_t most_gangs = 0x7fffffff;

/// acc_get_property of OpenACC 2.6. Null if the process had already loaded an older libgomp, for example the one in
/// PyTorch's wheels. It is looked up at run time: with a plain reference, this library could then not be loaded at all.
decltype(&acc_get_property) find_get_property();

/// Every call waits for its work. If a device fails, libgomp ends the process; it cannot report an error.
class queue final : public backend::queue {
 public:
  queue(const backend::device& owner, acc_device_t type, int ordinal);
  ~queue() override;

  /// Makes this the calling thread's current device. Must be called before any use of OpenACC.
  void make_current() const {
    during("acc_set_device_num", [&] { acc_set_device_num(ordinal_, type_); });
  }

  memory allocate(std::uint64_t bytes) override;
  void release(memory what) noexcept override;
  memory wrap(void* native, std::uint64_t bytes) override;
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  void download(void* to, memory from, std::uint64_t bytes) override;
  void copy(memory to, memory from, std::uint64_t bytes) override;
  void finish() override {}
  void start_clock() override;
  double stop_clock() override;
  arithmetic probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) override;

 private:
  std::uint64_t free_bytes() const;
  void free_block(void* base, std::uint64_t bytes) noexcept;
  void trim() noexcept;

  acc_device_t type_;
  int ordinal_;
  std::int64_t clock_started_ = 0;
  std::multimap<std::uint64_t, void*> idle_;  // by size, for the next call
  std::uint64_t idle_bytes_ = 0;
  std::map<void*, std::uint64_t> live_;
  std::uint64_t held_ = 0;  // bytes of idle and live memory
};

/// Returns `q` as an OpenACC queue and makes its device current. The first line of every variant's `run`.
inline queue& enter(backend::queue& q) {
  queue& entered = static_cast<queue&>(q);
  entered.make_current();
  return entered;
}

/// a * b, rounded, in a form that no compiler fuses with a following sum. GCC does not fuse it, but emits PTX's `mul`,
/// which the GPU's driver fuses with an `add`. fma(a, b, -0) rounds to the same bits and is not fused.
template <class T>
[[gnu::always_inline]] inline T product(T a, T b) {
  if (__builtin_acc_on_device(acc_device_host)) return a * b;
  if constexpr (sizeof(T) == sizeof(float))
    return __builtin_fmaf(a, b, -0.0f);
  else
    return __builtin_fma(a, b, -0.0);
}

}  // namespace tilewise::backend::openacc
