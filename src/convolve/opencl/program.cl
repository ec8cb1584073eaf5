// SPDX-License-Identifier: Apache-2.0
// What:   what the OpenCL convolutions share: where an item's results and the pixels under their taps lie.
// Order:  from +0, for r and s ascending: the chain plus weight * pixel, each rounded by itself.
// Limits: included after order/operators.cl, which switches contraction off.
// Twins:  serial.cpp.

// Pixel (i, j), which is +0 outside the image; a negative i or j is far beyond it.
static inline TW_T tw_pixel(__global const TW_T* image, ulong rows, ulong columns, ulong i, ulong j) {
  return i < rows && j < columns ? image[i * columns + j] : (TW_T)0;
}
