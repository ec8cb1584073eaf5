// SPDX-License-Identifier: Apache-2.0
// What:   chains of multiply-adds in registers, the peak that arithmetic is compared with.
// Order:  each lane is one chain c = fma(c, a, b), the operation of a matrix product. Integers multiply and add, and so
//         do floats if product and sum are rounded separately.
// Shape:  six vectors of 64 bytes per work-item: registers on a CPU, 48 or 96 chains on a GPU.
// Limits: each step of a chain depends on the one before, so no compiler can shorten it.
// Twins:  cpu/fma_kernels.cpp, cuda/roofs.cu.
#pragma OPENCL FP_CONTRACT OFF
#ifdef TW_FUSED
#define TW_STEP(c) c = fma(c, a, b)
#else
#define TW_STEP(c) c = c * a + b
#endif

__kernel void tw_multiply_add(__global TW_CHAIN* sums, TW_T factor, TW_T addend, uint steps, uint keep,
                              ulong first_group) {
  const TW_CHAIN a = (TW_CHAIN)(factor), b = (TW_CHAIN)(addend);
  TW_CHAIN c0 = a, c1 = a + 1, c2 = a + 2, c3 = a + 3, c4 = a + 4, c5 = a + 5;
  for (uint step = 0; step < steps; ++step) {
    TW_STEP(c0);
    TW_STEP(c1);
    TW_STEP(c2);
    TW_STEP(c3);
    TW_STEP(c4);
    TW_STEP(c5);
  }
  // Never true, but the compiler cannot know that.
  if (keep != 0) sums[first_group + get_global_id(0)] = c0 + c1 + c2 + c3 + c4 + c5;
}
