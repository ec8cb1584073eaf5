// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"

namespace tilewise::embedded {
extern const std::string_view probe_cl;
}

namespace tilewise::backend::opencl {

arithmetic queue::probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) {
  const std::uint64_t n = a.size(), bytes = n * sizeof(float);
  constexpr unsigned group_size = 64;
  const buffer x(*this, bytes), y(*this, bytes), z(*this, bytes), floats(*this, 3 * bytes), integers(*this, bytes);
  upload(x, a.data(), bytes);
  upload(y, b.data(), bytes);
  upload(z, c.data(), bytes);
  const cl_kernel kernel = program(embedded::probe_cl, "").kernel("tw_probe");
  launch_tiles(kernel, ceil_div(n, group_size), group_size, memory(x), memory(y), memory(z), memory(floats),
               memory(integers), n);
  arithmetic result{std::vector<float>(n), std::vector<float>(n), std::vector<float>(n), std::vector<std::int32_t>(n)};
  download(result.multiply_add.data(), memory(floats), bytes);
  download(result.fused.data(), memory(floats).at(bytes, bytes), bytes);
  download(result.sum.data(), memory(floats).at(2 * bytes, bytes), bytes);
  download(result.wrapping.data(), memory(integers), bytes);
  return result;
}

}  // namespace tilewise::backend::opencl
