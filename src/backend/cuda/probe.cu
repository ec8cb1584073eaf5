// SPDX-License-Identifier: Apache-2.0
// What:   the probe's four operations, one element per lane.
// Order:  none; each operation is rounded as it is written.
// Shape:  any grid.
// Limits: f32.
// Twins:  expected_of in backend/probe.cpp.
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "order/operators.hpp"

namespace tilewise::backend::cuda {

namespace {

struct probed {
  const float *a, *b, *c;
  float *multiply_add, *fused, *sum;
  std::int32_t* wrapping;
};

__global__ void compute(probed p, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float a = p.a[i], b = p.b[i], c = p.c[i];
  p.multiply_add[i] = a * b + c;
  p.fused[i] = fmaf(a, b, c);
  p.sum[i] = order::canonical(a + b);
  p.wrapping[i] = order::sum::apply(order::product::apply(__float_as_int(a), __float_as_int(b)), __float_as_int(c));
}

}  // namespace

arithmetic queue::probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) {
  constexpr unsigned group_size = 256;
  const unsigned count = static_cast<unsigned>(a.size());
  const std::uint64_t bytes = a.size_bytes();
  const buffer in(*this, 3 * bytes), out(*this, 4 * bytes);
  const auto input = [&](unsigned i) { return memory(in).at(i * bytes, bytes); };
  const auto output = [&](unsigned i) { return memory(out).at(i * bytes, bytes); };
  upload(input(0), a.data(), bytes);
  upload(input(1), b.data(), bytes);
  upload(input(2), c.data(), bytes);
  compute<<<ceil_div(count, group_size), group_size, 0, stream_>>>(
      {input(0).as<float>(), input(1).as<float>(), input(2).as<float>(), output(0).as<float>(), output(1).as<float>(),
       output(2).as<float>(), output(3).as<std::int32_t>()},
      count);
  TW_CUDA(cudaGetLastError());
  arithmetic there;
  const auto fetch = [&](auto& to, unsigned i) {
    to.resize(count);
    download(to.data(), output(i), bytes);
  };
  fetch(there.multiply_add, 0);
  fetch(there.fused, 1);
  fetch(there.sum, 2);
  fetch(there.wrapping, 3);
  return there;
}

}  // namespace tilewise::backend::cuda
