// SPDX-License-Identifier: Apache-2.0
// What:   plain arithmetic, one element per work-item, for backend/probe.hpp.
// Order:  none; every operation is rounded as written, which is what the probe checks.
// Shape:  one work-item per element.
// Limits: float and int only.
// Twins:  backend/probe.cpp computes the same on the host.
__kernel void tw_probe(__global const float* a, __global const float* b, __global const float* c, __global float* out,
                       __global int* wrapping, ulong count, ulong first_group) {
  const ulong i = first_group * get_local_size(0) + get_global_id(0);
  if (i < count) {
    out[i] = a[i] * b[i] + c[i];
    out[count + i] = fma(a[i], b[i], c[i]);
    out[2 * count + i] = tw_canonical(a[i] + b[i]);
    wrapping[i] = as_int(as_uint(a[i]) * as_uint(b[i]) + as_uint(c[i]));
  }
}
