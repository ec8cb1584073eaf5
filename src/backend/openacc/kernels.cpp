// SPDX-License-Identifier: Apache-2.0
// What:   the queue's own kernels: the plain copy, and the probe's four operations.
// Order:  none; each operation is rounded as it is written.
// Shape:  one element per lane.
// Limits: the probe: f32.
// Twins:  expected_of in backend/probe.cpp.
#include "backend/openacc/queue.hpp"
#include "base/ceil_div.hpp"
#include "order/operators.hpp"

#include <algorithm>

namespace tilewise::backend::openacc {

namespace {

/// The word that a lane copies at once: with 8 bytes, a GPU would have too few bytes in flight.
typedef std::uint64_t wide [[gnu::vector_size(16)]];

template <class Word>
void copy_words(Word* to, const Word* from, std::uint64_t count) {
  constexpr std::uint64_t each = 256;  // words per gang
  const std::uint64_t gangs = std::min(ceil_div(count, each), most_gangs);
#pragma acc parallel loop gang vector num_gangs(gangs) vector_length(128) deviceptr(to, from)
  for (std::uint64_t i = 0; i < count; ++i) to[i] = from[i];
}

bool is_wide(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % sizeof(wide) == 0; }

}  // namespace

void queue::copy(memory to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return;
  make_current();
  during("OpenACC's copy", [&] {
    if (is_wide(to.as<void>()) && is_wide(from.as<void>()) && bytes % sizeof(wide) == 0)
      copy_words(to.as<wide>(), from.as<const wide>(), bytes / sizeof(wide));
    else
      copy_words(to.as<char>(), from.as<const char>(), bytes);
  });
}

arithmetic queue::probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) {
  make_current();
  const std::uint64_t n = a.size();
  arithmetic got{std::vector<float>(n), std::vector<float>(n), std::vector<float>(n), std::vector<std::int32_t>(n)};
  const float *x = a.data(), *y = b.data(), *z = c.data();
  float *multiply_add = got.multiply_add.data(), *fused = got.fused.data(), *sum = got.sum.data();
  std::int32_t* wrapping = got.wrapping.data();
#pragma acc parallel loop gang vector copyin(x[:n], y[:n], z[:n]) \
    copyout(multiply_add[:n], fused[:n], sum[:n], wrapping[:n])
  for (std::uint64_t i = 0; i < n; ++i) {
    multiply_add[i] = product(x[i], y[i]) + z[i];
    fused[i] = __builtin_fmaf(x[i], y[i], z[i]);
    sum[i] = order::canonical(x[i] + y[i]);
    const auto u = __builtin_bit_cast(std::int32_t, x[i]), v = __builtin_bit_cast(std::int32_t, y[i]);
    wrapping[i] = order::sum::apply(order::product::apply(u, v), __builtin_bit_cast(std::int32_t, z[i]));
  }
  return got;
}

}  // namespace tilewise::backend::openacc
